import { SluiceError } from "@sluice/protocol";
import { RecentNames } from "./recent-names.ts";

/**
 * Which call was made under which operation id. Each partition remembers what it has answered, and
 * refuses another call under the same id; two calls whose items are in different partitions meet
 * only here, in the router that both went through.
 */
export class Titles {
  readonly #titles = new RecentNames<string>();

  async keep<T>(
    operationId: string | undefined,
    call: string,
    items: number,
    perform: () => Promise<T>,
  ): Promise<T> {
    if (typeof operationId !== "string") return perform();
    const title = `${call} ${items}`;
    const known = this.#titles.get(operationId);
    if (known !== undefined && known !== title) throw conflict(operationId, known);
    this.#titles.set(operationId, title);
    try {
      return await perform();
    } catch (error) {
      // Nothing was done under this name.
      if (known === undefined) this.#titles.delete(operationId);
      throw error;
    }
  }
}

function conflict(operationId: string, known: string): SluiceError {
  const message = `operation ${JSON.stringify(operationId)} was another call: ${known} items`;
  return new SluiceError("CONFLICT", message, { field: "operationId", value: operationId });
}

import { checkSameCall, titleOf } from "@sluice/protocol";
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
    said: unknown,
    perform: () => Promise<T>,
  ): Promise<T> {
    if (typeof operationId !== "string") return perform();
    const title = titleOf(call, items, said);
    const known = this.#titles.get(operationId);
    if (known !== undefined) checkSameCall(operationId, title, known);
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

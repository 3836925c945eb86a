import { randomUUID } from "node:crypto";
import {
  type CallName,
  checkSameCall,
  type OperationOptions,
  rowOf,
  SluiceError,
  titleOf,
} from "@sluice/protocol";
import { RecentNames } from "./recent-names.ts";

/**
 * The ids under which calls are made that must take effect once. A call without an id gets one, so
 * that it can be made again when a partition moves.
 *
 * Each partition remembers what it has answered, and refuses another call under the same id. Two
 * calls whose items are in different partitions meet only here, in the router that makes both.
 */
export class OperationIds {
  readonly #titles = new RecentNames<string>();
  /** How many calls are being made under an id. */
  readonly #underWay = new Map<string, number>();
  readonly #mark = randomUUID();
  #count = 0;

  /** Makes a call of the table with an id; refuses another call under the caller's own id. */
  async keep<T>(
    name: CallName,
    args: readonly unknown[],
    make: (args: readonly unknown[]) => Promise<T>,
  ): Promise<T> {
    const at = rowOf(name).args.length;
    const options = (args[at] ?? {}) as OperationOptions;
    const { operationId } = options;
    if (typeof operationId !== "string") {
      const named = { operationId: `${this.#mark}.${++this.#count}` };
      const own = Array.from({ length: at }, (_, i) => args[i]);
      // An id of another type is refused by the partition.
      return make(operationId === undefined ? [...own, { ...options, ...named }] : args);
    }
    const title = titleOfCall(name, args);
    const known = this.#titles.get(operationId);
    if (known !== undefined) checkSameCall(operationId, title, known);
    this.#titles.set(operationId, title);
    this.#underWay.set(operationId, (this.#underWay.get(operationId) ?? 0) + 1);
    try {
      return await make(args);
    } catch (error) {
      // Nothing was done under this id.
      if (known === undefined) this.#titles.delete(operationId);
      throw error;
    } finally {
      const others = this.#underWay.get(operationId)! - 1;
      if (others > 0) this.#underWay.set(operationId, others);
      else this.#underWay.delete(operationId);
    }
  }

  /** Refuses to ask the partitions about a call that is being made: they may not know it yet. */
  checkUnderWay(operationId: string): void {
    if (!this.#underWay.has(operationId)) return;
    const message = `a call is being made under operation id ${JSON.stringify(operationId)}`;
    throw new SluiceError("CONFLICT", message, { field: "operationId", value: operationId });
  }
}

/** Its name and subject, how many items it has, and what it says. */
function titleOfCall(name: CallName, args: readonly unknown[]): string {
  const { args: own, jobs } = rowOf(name);
  const call = jobs === undefined ? `${name} ${args[0]}` : name;
  const batch = args.slice(0, own.length).find((one) => Array.isArray(one));
  if (batch !== undefined) return titleOf(call, batch.length, batch);
  const options = { ...(args[own.length] as OperationOptions) };
  const { operationId: _, signal: __, timeout: ___, ...said } = options;
  return titleOf(call, 1, ...args.slice(1, own.length), said);
}

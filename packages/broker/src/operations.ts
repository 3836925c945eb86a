import { BATCH_MAX, OPERATION_ID_BYTES_MAX, OPERATION_MS, OPERATIONS_MAX } from "./limits.ts";
import { invalid } from "./refuse.ts";

/** Answers that are remembered for those who ask again under the same name. */
export class Operations {
  readonly #known = new Map<string, { at: number; answer: Promise<unknown> }>();

  /** The first answer of this operation, or the one that `call` gives now. */
  once<T>(id: string | undefined, now: number, call: () => Promise<T>): Promise<T> {
    if (id === undefined) return call();
    if (typeof id !== "string" || id === "" || id.length > OPERATION_ID_BYTES_MAX) {
      const wanted = `a string of 1 to ${OPERATION_ID_BYTES_MAX} characters`;
      throw invalid("operationId", wanted, id);
    }
    this.#forget(now);
    const known = this.#known.get(id);
    if (known !== undefined) return known.answer as Promise<T>;
    const answer = call();
    this.#known.set(id, { at: now, answer });
    // A call that had no answer may be made again.
    answer.catch(() => this.#known.delete(id));
    return answer;
  }

  #forget(now: number): void {
    for (const [id, { at }] of this.#known) {
      if (at + OPERATION_MS > now && this.#known.size < OPERATIONS_MAX) return;
      this.#known.delete(id);
    }
  }
}

export function checkBatch(field: string, items: unknown): void {
  if (!Array.isArray(items)) throw invalid(field, "an array", items);
  if (items.length > BATCH_MAX) {
    throw invalid(`${field}.length`, `at most ${BATCH_MAX}`, items.length);
  }
}

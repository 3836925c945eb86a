import type { Answered, Teller } from "./facts/facts.ts";
import { OPERATION_ANSWERS_MAX, OPERATION_MS, OPERATIONS_MAX } from "./limits.ts";

interface Operation {
  readonly name: string;
  /** What the call was, to tell it from another under the same name. */
  readonly call: string;
  readonly since: number;
  /** Most are told once; by their items when there is more to tell. */
  answers: readonly Answered[] | Map<number, Answered>;
}

/**
 * Answers that are remembered for those who make the same call again: a caller who lost the
 * connection cannot know whether it came through. Bounded in number and in time; the oldest go
 * first. The engine only carries the answers.
 */
export class RememberedAnswers {
  readonly #core: Teller;
  readonly #known = new Map<string, Operation>();
  /**
   * The oldest first, from `#first` on; some are forgotten already. The map has the same order, but
   * to find its first is slow where many before it were deleted: an add took 13 us instead of 6.
   */
  #order: Operation[] = [];
  #first = 0;
  #answers = 0;

  constructor(core: Teller) {
    this.#core = core;
  }

  /**
   * Adds to what is known of an operation since its first answer; said again, an answer changes
   * nothing.
   */
  remember(
    name: string,
    call: string,
    answers: readonly Answered[],
    now: number,
    first?: number,
  ): void {
    const at = this.#core.clock(now);
    let operation = this.#known.get(name);
    if (operation === undefined || isOver(operation, at)) {
      if (operation !== undefined) this.#forget(operation);
      operation = { name, call, since: first ?? at, answers };
      this.#known.set(name, operation);
      this.#order.push(operation);
      this.#answers += answers.length;
    } else this.#addTo(operation, answers);
    const { since } = operation;
    this.#core.tell({ at, fact: "answered", operation: name, call, since, answers });
    this.#makeRoom(at);
  }

  #addTo(operation: Operation, answers: readonly Answered[]): void {
    const known = operation.answers;
    const byItem = known instanceof Map ? known : new Map(known.map((one) => [one.item, one]));
    const before = countOf(operation);
    for (const answer of answers) byItem.set(answer.item, answer);
    operation.answers = byItem;
    this.#answers += byItem.size - before;
  }

  /** What the call was, and the answers that it got. */
  recall(name: string, now: number): { call: string; answers: Answered[] } | undefined {
    const operation = this.#known.get(name);
    if (operation === undefined || isOver(operation, this.#core.clock(now))) return undefined;
    return { call: operation.call, answers: [...operation.answers.values()] };
  }

  /** Those that still count. */
  *all(now: number): Generator<Operation> {
    for (const operation of this.#known.values()) if (!isOver(operation, now)) yield operation;
  }

  #makeRoom(now: number): void {
    for (; this.#first < this.#order.length; this.#first++) {
      const oldest = this.#order[this.#first]!;
      if (this.#known.get(oldest.name) !== oldest) continue;
      const isFull = this.#known.size > OPERATIONS_MAX || this.#answers > OPERATION_ANSWERS_MAX;
      // The one that was just told is kept, however large it is.
      if (this.#known.size === 1 || (!isFull && !isOver(oldest, now))) break;
      this.#forget(oldest);
    }
    if (this.#first <= OPERATIONS_MAX) return;
    this.#order = this.#order.slice(this.#first);
    this.#first = 0;
  }

  #forget(operation: Operation): void {
    this.#answers -= countOf(operation);
    this.#known.delete(operation.name);
  }
}

function countOf({ answers }: Operation): number {
  return answers instanceof Map ? answers.size : answers.length;
}

function isOver({ since }: Operation, now: number): boolean {
  return since + OPERATION_MS <= now;
}

import type { Answered, Teller } from "./facts/facts.ts";
import { OPERATION_ANSWERS_MAX, OPERATION_MS, OPERATIONS_MAX } from "./limits.ts";

interface Operation {
  readonly name: string;
  /** What the call was, to tell it from another under the same name. */
  readonly call: string;
  readonly since: number;
  readonly answers: Map<number, Answered>;
}

/**
 * Answers that are remembered for those who make the same call again: a caller who lost the
 * connection cannot know whether it came through. Bounded in number and in time; the oldest go
 * first. The engine only carries the answers.
 */
export class RememberedAnswers {
  readonly #core: Teller;
  /** The oldest first. */
  readonly #known = new Map<string, Operation>();
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
      this.#forget(name);
      operation = { name, call, since: first ?? at, answers: new Map() };
      this.#known.set(name, operation);
    }
    const { since } = operation;
    this.#core.tell({ at, fact: "answered", operation: name, call, since, answers });
    for (const answer of answers) {
      if (!operation.answers.has(answer.item)) this.#answers++;
      operation.answers.set(answer.item, answer);
    }
    this.#makeRoom(at);
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
    for (const [name, operation] of this.#known) {
      const isFull = this.#known.size > OPERATIONS_MAX || this.#answers > OPERATION_ANSWERS_MAX;
      if (!isFull && !isOver(operation, now)) return;
      // The one that was just told is kept, however large it is.
      if (this.#known.size > 1) this.#forget(name);
    }
  }

  #forget(name: string): void {
    this.#answers -= this.#known.get(name)?.answers.size ?? 0;
    this.#known.delete(name);
  }
}

function isOver({ since }: Operation, now: number): boolean {
  return since + OPERATION_MS <= now;
}

import { OPERATION_ANSWERS_MAX, OPERATION_MS, OPERATIONS_MAX } from "./limits.ts";

/** What some items of a call were answered: `count` of them alike, from `item` on. */
export interface Answered {
  item: number;
  count: number;
  answer: unknown;
}

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
  /** The oldest first. */
  readonly #known = new Map<string, Operation>();
  #answers = 0;

  /** Adds to what is known of an operation; said again, an answer changes nothing. */
  remember(
    { name, call, since }: Omit<Operation, "answers">,
    answers: readonly Answered[],
    now: number,
  ): void {
    let operation = this.#known.get(name);
    if (operation === undefined || isOver(operation, now)) {
      this.#forget(name);
      operation = { name, call, since, answers: new Map() };
      this.#known.set(name, operation);
    }
    for (const answer of answers) {
      if (!operation.answers.has(answer.item)) this.#answers++;
      operation.answers.set(answer.item, answer);
    }
    this.#makeRoom(now);
  }

  recall(name: string, now: number): Operation | undefined {
    const operation = this.#known.get(name);
    return operation === undefined || isOver(operation, now) ? undefined : operation;
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

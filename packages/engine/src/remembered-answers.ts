import type { Answered, Teller } from "./facts/facts.ts";
import {
  NUMBERED_SOURCES_MAX,
  OPERATION_ANSWERS_MAX,
  OPERATION_MS,
  OPERATIONS_MAX,
} from "./limits.ts";

interface Operation {
  readonly name: string;
  /** What the call was, to tell it from another under the same name. */
  readonly call: string;
  readonly since: number;
  /** As they came, for most operations; by item once more answers were added. */
  answers: readonly Answered[] | Map<number, Answered>;
}

/**
 * Answers that are remembered for those who make the same call again: a caller who lost the
 * connection cannot know whether it came through. Bounded in number and in time; the oldest go
 * first. The engine only carries the answers.
 *
 * A numbered operation, `numbered:SOURCE:17`, is remembered however long it takes, until its source
 * says a higher number: for a source that makes one call after the other and may be away for days.
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
  /** The newest of each source; the one that was used last is at the end. */
  readonly #numbered = new Map<string, { number: number; operation: Operation }>();

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
    const known = this.#find(name, at);
    const since = known?.since ?? first ?? at;
    if (known !== undefined) this.#addTo(known, answers);
    else this.#keep({ name, call, since, answers });
    this.#core.tell({ at, fact: "answered", operation: name, call, since, answers });
    this.#makeRoom(at);
  }

  #keep(operation: Operation): void {
    const { name } = operation;
    const [, source, number] = NUMBERED.exec(name) ?? [];
    if (source !== undefined) return this.#keepNumbered(source, Number(number), operation);
    const over = this.#known.get(name);
    if (over !== undefined) this.#forget(over);
    this.#known.set(name, operation);
    this.#order.push(operation);
    this.#answers += countOf(operation);
  }

  #keepNumbered(source: string, number: number, operation: Operation): void {
    const known = this.#numbered.get(source);
    if (known !== undefined && known.number > number) return;
    this.#numbered.delete(source);
    this.#numbered.set(source, { number, operation });
    if (this.#numbered.size <= NUMBERED_SOURCES_MAX) return;
    this.#numbered.delete(this.#numbered.keys().next().value!);
  }

  #addTo(operation: Operation, answers: readonly Answered[]): void {
    const known = operation.answers;
    const byItem = known instanceof Map ? known : new Map(known.map((one) => [one.item, one]));
    const before = countOf(operation);
    for (const answer of answers) byItem.set(answer.item, answer);
    operation.answers = byItem;
    if (this.#known.has(operation.name)) this.#answers += byItem.size - before;
  }

  /** What the call was, and the answers that it got. */
  recall(name: string, now: number): { call: string; answers: Answered[] } | undefined {
    const operation = this.#find(name, this.#core.clock(now));
    if (operation === undefined) return undefined;
    return { call: operation.call, answers: [...operation.answers.values()] };
  }

  /** The higher number that the source of a numbered operation has said since; else undefined. */
  passedBy(name: string): number | undefined {
    const [, source, number] = NUMBERED.exec(name) ?? [];
    const newest = source === undefined ? undefined : this.#numbered.get(source)?.number;
    return newest !== undefined && newest > Number(number) ? newest : undefined;
  }

  #find(name: string, now: number): Operation | undefined {
    const [, source, number] = NUMBERED.exec(name) ?? [];
    if (source !== undefined) {
      const known = this.#numbered.get(source);
      return known?.number === Number(number) ? known.operation : undefined;
    }
    const operation = this.#known.get(name);
    return operation === undefined || isOver(operation, now) ? undefined : operation;
  }

  /** Those that still count. */
  *all(now: number): Generator<Operation> {
    for (const operation of this.#known.values()) if (!isOver(operation, now)) yield operation;
    for (const { operation } of this.#numbered.values()) yield operation;
  }

  #makeRoom(now: number): void {
    for (; this.#first < this.#order.length; this.#first++) {
      const oldest = this.#order[this.#first]!;
      if (this.#known.get(oldest.name) !== oldest) continue;
      const isFull = this.#known.size > OPERATIONS_MAX || this.#answers > OPERATION_ANSWERS_MAX;
      // The newest operation is kept, however large it is.
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

/** The number has no leading zeros and is a safe integer. */
const NUMBERED = /^numbered:(.+):(0|[1-9]\d{0,14})$/;

function countOf({ answers }: Operation): number {
  return answers instanceof Map ? answers.size : answers.length;
}

function isOver({ since }: Operation, now: number): boolean {
  return since + OPERATION_MS <= now;
}

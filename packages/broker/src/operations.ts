import type { Answered, Engine } from "@sluice/engine";
import {
  checkSameCall,
  type ErrorJson,
  invalid,
  type Outcome,
  SluiceError,
  titleOf,
} from "@sluice/protocol";
import { idOf, parseId } from "./job-ids.ts";
import type { Journal } from "./journal.ts";
import { OPERATION_ID_BYTES_MAX, REFUSED_VALUE_CHARS_MAX } from "./limits.ts";
import { errorJson } from "./refuse.ts";

/** One call: its name, what it is, and how many items it has. */
export interface OnceCall {
  readonly operationId: string;
  readonly call: string;
  readonly items: number;
  /** All that the call says: another payload is another call. */
  readonly said: readonly unknown[];
}

/** Records the answers to some of the missing items, from the one at `first` on. */
export type Note = (first: number, outcomes: readonly (Outcome<unknown> | undefined)[]) => void;

/** Makes a call for the items that have no answer yet, and notes each answer as it is decided. */
export type Perform<T> = (missing: readonly number[], note: Note) => Promise<Outcome<T>[]>;

/**
 * Answers calls that are made again under the same operation id with their first answer. What is
 * noted goes into the log with the facts of the call itself, so that after a crash an item that
 * came through has its answer, and one that did not is taken in now.
 */
export class OperationAnswers {
  readonly #engine: Engine;
  readonly #journal: Journal;
  readonly #now: () => number;
  readonly #underWay = new Map<string, { call: string; answer: Promise<unknown> }>();

  constructor(engine: Engine, journal: Journal, now: () => number) {
    this.#engine = engine;
    this.#journal = journal;
    this.#now = now;
  }

  once<T>(
    { operationId, call, items, said }: OnceCall,
    perform: Perform<T>,
  ): Promise<Outcome<T>[]> {
    checkId(operationId);
    this.#checkNumber(operationId);
    const title = titleOf(call, items, ...said);
    const underWay = this.#underWay.get(operationId);
    const known = underWay ?? this.#engine.operations.recall(operationId, this.#now());
    if (known !== undefined) checkSameCall(operationId, title, known.call);
    if (underWay !== undefined) {
      // The first caller gave up, not this one: what is missing is done now.
      return (underWay.answer as Promise<Outcome<T>[]>).catch((error) => {
        if (error?.code !== "ABORTED") throw error;
        return this.once({ operationId, call, items, said }, perform);
      });
    }
    const answer = this.#perform(operationId, title, items, perform);
    this.#underWay.set(operationId, { call: title, answer });
    const over = (): void => void this.#underWay.delete(operationId);
    answer.then(over, over);
    return answer;
  }

  /** What its source said before the newest number has an answer that the source knows. */
  #checkNumber(operationId: string): void {
    const newest = this.#engine.operations.passedBy(operationId);
    if (newest === undefined) return;
    const message =
      `operation id ${JSON.stringify(operationId)} is too old: its source has already sent number ` +
      `${newest}`;
    throw new SluiceError("CONFLICT", message, {
      field: "operationId",
      value: operationId,
      newest,
    });
  }

  async #perform<T>(
    id: string,
    call: string,
    items: number,
    perform: Perform<T>,
  ): Promise<Outcome<T>[]> {
    const outcomes: Outcome<T>[] = [];
    const known = this.#engine.operations.recall(id, this.#now())?.answers ?? [];
    for (const answered of known) unpack(answered, outcomes as Outcome<unknown>[]);
    const missing: number[] = [];
    for (let item = 0; item < items; item++) if (outcomes[item] === undefined) missing.push(item);
    if (missing.length === 0) {
      await this.#journal.durable();
      return outcomes;
    }
    const note: Note = (first, some) => {
      const answers = pack(missing.slice(first, first + some.length), some);
      if (answers.length > 0) this.#engine.operations.remember(id, call, answers, this.#now());
    };
    const rest = await perform(missing, note).catch((error: unknown) => {
      const noted = this.#engine.operations.recall(id, this.#now())?.answers ?? [];
      return this.#besideNoted<T>(missing, noted, error);
    });
    if (missing.length === items) return rest;
    for (let i = 0; i < missing.length; i++) outcomes[missing[i]!] = rest[i]!;
    return outcomes;
  }

  /** A call that failed in the middle: what is noted has its answer, the rest has the error. */
  async #besideNoted<T>(
    missing: readonly number[],
    noted: readonly Answered[],
    error: unknown,
  ): Promise<Outcome<T>[]> {
    const failure = errorJson(error);
    if (noted.length === 0 || ENDS_ALL.has(failure.code)) throw error;
    const outcomes: Outcome<unknown>[] = [];
    for (const answered of noted) unpack(answered, outcomes);
    await this.#journal.durable();
    return missing.map((item) => (outcomes[item] ?? { error: failure }) as Outcome<T>);
  }
}

/** New jobs have consecutive ids and most answers are alike, so a run is stored as one answer. */
type Answer = { id: number; tier: number } | { ok: unknown } | { error: ErrorJson };

function pack(
  items: readonly number[],
  outcomes: readonly (Outcome<unknown> | undefined)[],
): Answered[] {
  const packed: Answered[] = [];
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!;
    const outcome = outcomes[i];
    // Not answered yet, or given up: the same call may still be made.
    if (outcome === undefined || NOT_FINAL.has(outcome.error?.code ?? "")) continue;
    const answer = answerOf(outcome);
    const last = packed.at(-1);
    if (last !== undefined && item === last.item + last.count && goesOn(last, answer)) last.count++;
    else packed.push({ item, count: 1, answer });
  }
  return packed;
}

/** These say nothing of the items of a call. */
const ENDS_ALL: ReadonlySet<string> = new Set(["ABORTED", "CLOSED", "LOG_FAILED"]);

/** A fault of the broker is no answer either: remembered, it would stay after its repair. */
const NOT_FINAL: ReadonlySet<string> = new Set([...ENDS_ALL, "INTERNAL"]);

function answerOf(outcome: Outcome<unknown>): Answer {
  if (outcome.error !== undefined) return { error: brief(outcome.error) };
  const ok = outcome.ok as { id?: string; tier?: number };
  const { id, tier } = ok;
  if (id === undefined || tier === undefined) return outcome;
  for (const field in ok) if (field !== "id" && field !== "tier") return outcome;
  return { id: parseId(id), tier };
}

/** What was refused may be as large as the caller made it: that is not told again. */
function brief(error: ErrorJson): ErrorJson {
  const value = error.details?.value;
  if (value === undefined || JSON.stringify(value).length <= REFUSED_VALUE_CHARS_MAX) return error;
  const { value: _, ...details } = error.details!;
  return { ...error, details };
}

function goesOn({ answer, count }: Answered, next: Answer): boolean {
  const first = answer as Answer;
  if ("id" in first && "id" in next) {
    return next.id === first.id + count && next.tier === first.tier;
  }
  return "ok" in first && "ok" in next && first.ok === true && next.ok === true;
}

function unpack({ item, count, answer }: Answered, outcomes: Outcome<unknown>[]): void {
  const first = answer as Answer;
  for (let i = 0; i < count; i++) {
    outcomes[item + i] =
      "id" in first
        ? { ok: { id: idOf(first.id + i), tier: first.tier } }
        : (first as Outcome<unknown>);
  }
}

function checkId(id: unknown): void {
  if (typeof id === "string" && id !== "" && id.length <= OPERATION_ID_BYTES_MAX) return;
  throw invalid("operationId", `a string of 1 to ${OPERATION_ID_BYTES_MAX} characters`, id);
}

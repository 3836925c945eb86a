/**
 * The words that facts write as one byte. The number of a word never changes: a new word gets the
 * next number, and the number of a removed word is not used again.
 */
import assert from "node:assert/strict";
import type {
  DedupeMode,
  Ending,
  Fact,
  HistoryEntry,
  JobRecord,
  OnDependencyFailure,
  StepKind,
  TickOutcome,
} from "@sluice/engine";
import type { ByteReader } from "./byte-reader.ts";

class Codes<Word extends string> {
  readonly #codes: Map<string, number>;
  readonly #words: (Word | undefined)[] = [];

  /** The compiler asks for every word. */
  constructor(codes: Readonly<Record<Word, number>>) {
    this.#codes = new Map(Object.entries<number>(codes));
    for (const [word, code] of this.#codes) {
      assert.ok(this.#words[code] === undefined, `${code} has two words`);
      this.#words[code] = word as Word;
    }
  }

  code(word: Word): number {
    const code = this.#codes.get(word);
    if (code === undefined) assert.fail(`${word} has no code`);
    return code;
  }

  word(code: number, reader: ByteReader): Word {
    const word = this.#words[code];
    if (word === undefined) throw reader.newer(`code ${code}`);
    return word;
  }
}

/** 0 is for a job that has not ended. */
export const ENDINGS = new Codes<Ending>({
  finished: 1,
  failed: 2,
  cancelled: 3,
  expired: 4,
  dead: 5,
  "wait-too-long": 6,
});

/** A blocked job has a flag of its own: there are two bits for the state. */
export const STATES = new Codes<Exclude<JobRecord["state"], "blocked">>({
  waiting: 0,
  delayed: 1,
  leased: 2,
  ended: 3,
});

export const RETRY_EVENTS = new Codes<Extract<Fact, { fact: "retried" }>["event"]>({
  failed: 0,
  expired: 1,
  retried: 2,
});

export const HISTORY_EVENTS = new Codes<HistoryEntry["event"]>({
  added: 0,
  due: 1,
  dispatched: 2,
  failed: 3,
  expired: 4,
  returned: 5,
  retried: 6,
  promoted: 7,
  dead: 8,
  redriven: 9,
  ended: 10,
  suspended: 11,
});

export const DEPENDENCY_RULES = new Codes<OnDependencyFailure>({ fail: 0, run: 1, wait: 2 });

export const FLOW_STATES = new Codes<Extract<Fact, { fact: "flow" }>["state"]>({
  open: 0,
  sealed: 1,
  cancelled: 2,
});
export const STEP_KINDS = new Codes<StepKind>({ run: 0, sleep: 1, wait: 2 });

export const DEDUPE_MODES = new Codes<DedupeMode>({
  pending: 0,
  window: 1,
  debounce: 2,
  replace: 3,
  keepLast: 4,
});

export const TICK_OUTCOMES = new Codes<TickOutcome>({
  added: 0,
  held: 1,
  missed: 2,
  overlap: 3,
  paused: 4,
  refused: 5,
  dropped: 6,
  duplicate: 7,
  "too-old": 8,
  "too-many": 9,
});

/**
 * The words that facts spell as one byte. A number stands for its word for ever: a new word gets
 * the next number, and the number of a word that is gone is not given again.
 */
import assert from "node:assert/strict";
import type { DedupeMode, Ending, Fact, HistoryEntry, JobRecord } from "@sluice/engine";
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

export const STATES = new Codes<JobRecord["state"]>({
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
});

export const DEDUPE_MODES = new Codes<DedupeMode>({
  pending: 0,
  window: 1,
  debounce: 2,
  replace: 3,
  keepLast: 4,
});

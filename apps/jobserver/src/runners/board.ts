/**
 * The memory that the server shares with a thread while the thread works through a list of small
 * jobs. A place in the list is in one of these states:
 *
 *   handed    it has not begun; whichever of the two changes the state first has the job
 *   begun     the thread runs it
 *   back      the server has taken it back
 *   done      its result is in this memory
 *   reported  its end was sent as a message
 *
 * handed → begun and begun → done or reported by the thread; handed → back by the server. So the
 * server can take back at any time what has not begun, also from a thread that only computes, and a
 * result that was not sent yet survives the end of its thread.
 */
import { LIST_JOBS_MAX, LIST_RESULTS_BYTES } from "../limits.ts";

const HANDED = 0;
const BEGUN = 1;
const BACK = 2;
const DONE = 3;
const REPORTED = 4;

/** Numbers for each place: its state, where its result begins and ends, and its time. */
const FIELDS = 4;
const NUMBERS = LIST_JOBS_MAX * FIELDS;
const NO_RESULT = -1;

export interface Done {
  /** As JSON; undefined: the handler returned nothing. */
  readonly result?: string | undefined;
  readonly tookMs: number;
}

export class Board {
  readonly memory: SharedArrayBuffer;
  readonly #numbers: Int32Array;
  readonly #results: Buffer;
  #used = 0;

  constructor(memory = new SharedArrayBuffer(NUMBERS * 4 + LIST_RESULTS_BYTES)) {
    this.memory = memory;
    this.#numbers = new Int32Array(memory, 0, NUMBERS);
    this.#results = Buffer.from(memory, NUMBERS * 4);
  }

  /** The server: for a new list, which the thread has not been sent yet. */
  clear(): void {
    this.#numbers.fill(HANDED);
  }

  /** The server: false if the job has begun. */
  takeBack(place: number): boolean {
    return Atomics.compareExchange(this.#numbers, place * FIELDS, HANDED, BACK) === HANDED;
  }

  /** The server: whether the thread has a job that has not ended. */
  isRunning(place: number): boolean {
    return Atomics.load(this.#numbers, place * FIELDS) === BEGUN;
  }

  /** The server: undefined if there is no result in this memory. */
  read(place: number): Done | undefined {
    const at = place * FIELDS;
    if (Atomics.load(this.#numbers, at) !== DONE) return undefined;
    const start = this.#numbers[at + 1]!;
    const end = this.#numbers[at + 2]!;
    const micros = this.#numbers[at + 3]!;
    const result = start === NO_RESULT ? undefined : this.#results.toString("utf8", start, end);
    return { result, tookMs: micros / 1000 };
  }

  /** The thread: at the beginning of a list. */
  open(): void {
    this.#used = 0;
  }

  /** The thread: false if the server has taken the job back. */
  begin(place: number): boolean {
    return Atomics.compareExchange(this.#numbers, place * FIELDS, HANDED, BEGUN) === HANDED;
  }

  /** The thread: false if there is no room for the result. */
  put(place: number, { result, tookMs }: Done): boolean {
    const at = place * FIELDS;
    const start = this.#used;
    if (result !== undefined) {
      if (start + Buffer.byteLength(result) > this.#results.length) return false;
      this.#used += this.#results.write(result, start);
    }
    this.#numbers[at + 1] = result === undefined ? NO_RESULT : start;
    this.#numbers[at + 2] = this.#used;
    this.#numbers[at + 3] = Math.min(tookMs * 1000, 2 ** 31 - 1);
    Atomics.store(this.#numbers, at, DONE);
    return true;
  }

  /** The thread: after the message. */
  reported(place: number): void {
    Atomics.store(this.#numbers, place * FIELDS, REPORTED);
  }
}

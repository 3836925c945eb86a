/**
 * Whose turn it is among scripts that share threads: the one that has used the least processor time
 * of late, not the one that came first. A script that takes fifty times as long gets a fiftieth of
 * the turns, so it slows down only itself.
 *
 * It is fair queueing by virtual time. A script that begins to wait starts at the time of the turn
 * that was given last, or at the end of its own last turn if that is later. The turn goes to the
 * one whose turn would end first, by what it took before. A script that has not run yet, or whose
 * thread was ended, is *unproven*: it counts as one that takes all of its limit.
 */
import { HARD_LIMIT_MS } from "../../limits.ts";

/** What one script has used. */
export class TimeShare {
  /** Until when its turns so far have lasted, in virtual time. */
  at = 0;
  estimateMs = HARD_LIMIT_MS;
  isProven = false;

  used(ms: number): void {
    this.at += ms;
    this.estimateMs = this.isProven ? (3 * this.estimateMs + ms) / 4 : ms;
    this.isProven = true;
  }

  /** Its thread was ended, which has cost this much. */
  wasKilled(ms: number): void {
    this.at += ms;
    this.estimateMs = ms;
    this.isProven = false;
  }
}

interface Place<T> {
  readonly of: T;
  readonly start: number;
  readonly end: number;
}

export class TimeShares<T> {
  readonly #shareOf: (of: T) => TimeShare;
  /** Those that wait, by the end of their turn. */
  readonly #proven: Place<T>[] = [];
  readonly #unproven: Place<T>[] = [];
  #now = 0;

  constructor(shareOf: (of: T) => TimeShare) {
    this.#shareOf = shareOf;
  }

  add(of: T): void {
    const share = this.#shareOf(of);
    const start = Math.max(this.#now, share.at);
    const place = { of, start, end: start + share.estimateMs };
    const places = share.isProven ? this.#proven : this.#unproven;
    places.splice(placeOf(places, place.end), 0, place);
  }

  isEmpty(onlyProven: boolean): boolean {
    return this.#proven.length === 0 && (onlyProven || this.#unproven.length === 0);
  }

  next(onlyProven: boolean): T | undefined {
    const [proven] = this.#proven;
    const [unproven] = onlyProven ? [] : this.#unproven;
    const isProven = (proven?.end ?? Infinity) <= (unproven?.end ?? Infinity);
    const place = (isProven ? this.#proven : this.#unproven).shift();
    if (place === undefined) return undefined;
    this.#now = Math.max(this.#now, place.start);
    this.#shareOf(place.of).at = Math.max(this.#shareOf(place.of).at, place.start);
    return place.of;
  }

  /** Takes out all that wait. */
  clear(): T[] {
    return [...this.#proven.splice(0), ...this.#unproven.splice(0)].map(({ of }) => of);
  }
}

/** Behind all that end no later. */
function placeOf<T>(places: readonly Place<T>[], end: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (places[middle]!.end <= end) low = middle + 1;
    else high = middle;
  }
  return low;
}

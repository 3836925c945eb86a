/**
 * How long things took: counts by powers of two of a millisecond, so that counting one costs a few
 * instructions and no memory.
 */

/** The first bucket takes up to 1 ms, the last but one up to 2^22 ms, which is 70 minutes. */
const POWER_MAX = 22;
const BUCKETS = POWER_MAX + 2;

function powerOf(ms: number): number {
  return ms > 1 << POWER_MAX ? POWER_MAX + 1 : 32 - Math.clz32(Math.ceil(ms) - 1);
}

export interface TimeCounts {
  /** How many took up to `2^i` ms and longer than the bucket before; the last has no end. */
  counts: readonly number[];
  sum: number;
}

export class DurationHistogram {
  readonly #counts = new Float64Array(BUCKETS);
  #sumMs = 0;

  count(ms: number): void {
    this.#counts[ms <= 1 ? 0 : powerOf(ms)]!++;
    this.#sumMs += ms;
  }

  read(): TimeCounts {
    return { counts: [...this.#counts], sum: this.#sumMs };
  }
}

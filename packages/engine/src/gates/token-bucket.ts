/**
 * The `rate` and `burst` of a gate, in whole milli-tokens.
 *
 * One token a second is one milli-token a millisecond, so the rate splits into whole milli-tokens
 * per millisecond and a fraction in billionths. What a refill leaves below one milli-token is
 * carried in `carry`, so 0.3 a second always gives exactly 3 tokens in 10 s: nothing is summed up
 * in floating point, and every product stays below 2^53.
 *
 * The clock is in whole milliseconds. What is asked is rounded down and what has happened is
 * rounded up, so a caller with a fractional clock may get a token up to 1 ms late and never early.
 *
 * A job whose cost is above the burst (the burst was lowered under it) passes when the bucket is
 * full and leaves the bucket in debt. Emptying it to zero instead would give such jobs
 * `cost / burst` times the rate; with the debt, no interval holds more than
 * `max(burst, largest cost) + rate·t`, and that is `burst + rate·t` wherever the costs fit.
 *
 * Tokens may be lent to others, who use them at a time that is learned later. While they are out
 * the bucket fills only up to `size - lent`: the level and what is out never make more than the
 * size, so what is used in [a, b] was out at a, was in the bucket at a, or came in since, which
 * is `burst + rate·(b - a)` at most.
 */

const MILLI = 1000;
/** The fraction of the rate counts billionths of a milli-token: 1e-9 tokens a second. */
const PARTS = 1e9;
/** An elapsed time is split here, so that fraction × low part stays below 2^50. */
const SPLIT = 2 ** 20;
/** 139 years: what would take longer has no time. Keeps fraction × high part below 2^52. */
const AHEAD_MS_MAX = 2 ** 42;

export interface TokenBucketSave {
  level: number;
  carry: number;
  at: number;
}

export class TokenBucket {
  /** Milli-tokens at `at`; below zero after a job that cost more than the burst. */
  level = 0;
  /** Billionths of a milli-token on top of `level`; zero when full. */
  carry = 0;
  /** Whole milliseconds. */
  at = 0;
  /** Up to where it fills: the size, less what is lent. */
  burst = 0;
  size = 0;
  #lent = 0;
  /** Milli-tokens per millisecond: for estimates, never for levels. */
  #rate = 0;
  #whole = 0;
  #fraction = 0;
  /** What `SPLIT` milliseconds of the fraction give. */
  #splitMilli = 0;
  #splitParts = 0;

  /** A new bucket is full. */
  constructor(rate: number, burst: number, now: number) {
    this.#set(rate, burst);
    this.level = this.burst;
    this.at = Math.ceil(now);
  }

  /** The level stays; only what is above the new burst is lost. */
  configure(rate: number, burst: number, now: number): void {
    this.#settle(now);
    // The new rate counts from the next whole millisecond, so that a change gives nothing away.
    this.at = Math.max(this.at, Math.ceil(now));
    this.#set(rate, burst);
    if (this.level >= this.burst) this.#fill(now);
  }

  /** When `cost` passes: `now`, or the first whole millisecond later; Infinity if never. */
  opensAt(cost: number, now: number): number {
    if (this.#rate === 0) return Infinity;
    if (this.at !== now) this.#settle(now);
    if (this.level >= cost * MILLI) return now;
    const need = Math.min(cost * MILLI, this.size);
    if (this.level >= need) return now;
    return this.at + this.#msUntil(need - this.level);
  }

  take(cost: number, now: number): void {
    if (this.at !== now) this.#settle(now);
    this.level = this.#levelAfter(cost, now);
  }

  /** Tokens that were used beyond what was taken, which may leave a debt, or were not used. */
  charge(cost: number, now: number): void {
    this.#settle(now);
    // As for a new rate: the millisecond that has begun gives nothing away.
    this.at = Math.max(this.at, Math.ceil(now));
    this.level -= cost * MILLI;
    if (this.level >= this.burst) this.#fill(now);
  }

  /** Takes tokens that a borrower will use or return. */
  lend(cost: number, now: number): void {
    this.take(cost, now);
    this.#owe(this.#lent + cost * MILLI);
  }

  /** Of what was lent, so much came back and so much was used. */
  repay(returned: number, used: number, now: number): void {
    this.#settle(now);
    // As for a new rate: the millisecond that has begun gives nothing away.
    this.at = Math.max(this.at, Math.ceil(now));
    this.#owe(this.#lent - (returned + used) * MILLI);
    this.level += returned * MILLI;
  }

  /** What is out, where that is known from elsewhere. */
  setLent(cost: number, now: number): void {
    this.#settle(now);
    this.#owe(cost * MILLI);
    if (this.level >= this.burst) this.#fill(now);
  }

  /** Whether a job of this cost can pass before what is lent has come back. */
  fits(cost: number): boolean {
    return Math.min(cost * MILLI, this.size) <= this.burst;
  }

  #owe(lent: number): void {
    this.#lent = lent;
    this.burst = this.size - lent;
  }

  /** Whether `claimCost` passes at `claimAt` when `cost` is taken now. */
  opensBeside(cost: number, claimCost: number, claimAt: number, now: number): boolean {
    if (this.#rate === 0) return false;
    this.#settle(now);
    const missing = Math.min(claimCost * MILLI, this.size) - this.#levelAfter(cost, now);
    return missing <= 0 || this.at + this.#msUntil(missing) <= claimAt;
  }

  /** Tokens now; negative while a debt is paid off. */
  tokens(now: number): number {
    this.#settle(now);
    return this.level / MILLI;
  }

  full(now: number): boolean {
    this.#settle(now);
    return this.level === this.burst && this.#lent === 0;
  }

  save(now: number): TokenBucketSave {
    this.#settle(now);
    return { level: this.level, carry: this.carry, at: this.at };
  }

  load(save: TokenBucketSave, now: number): void {
    this.level = save.level;
    this.carry = save.carry;
    this.at = save.at;
    if (this.level >= this.burst) this.#fill(now);
  }

  /**
   * A take that the bucket does not cover (a replay under other limits) leaves what the same take
   * from a full bucket would have left at its lowest: no debt that no job has asked for.
   */
  #levelAfter(cost: number, now: number): number {
    const milli = cost * MILLI;
    const after =
      this.level >= milli
        ? this.level - milli
        : Math.max(this.level - milli, Math.min(this.level, 0, this.size - milli));
    return this.at < now ? after - this.#overflow() : after;
  }

  /**
   * What the millisecond that has begun brings above the burst. It may have run over before a take
   * in the middle of it, so that take must not make room for it.
   */
  #overflow(): number {
    const over = this.level + this.#milli(1) + wholes(this.#parts(1)) - this.burst;
    // One more for the carry.
    return over >= 0 ? over + 1 : 0;
  }

  #set(rate: number, burst: number): void {
    // The small addends undo the binary error of decimals such as 0.29, whose product with 1e9
    // falls just short of whole; they are worth one milli-token in thirty years.
    this.size = Math.floor(burst * MILLI + 1e-6);
    this.burst = this.size - this.#lent;
    this.#whole = Math.floor(rate);
    this.#fraction = Math.floor((rate - this.#whole) * PARTS + 1e-3);
    this.#rate = this.#whole + this.#fraction / PARTS;
    const split = this.#fraction * SPLIT;
    this.#splitMilli = Math.floor(split / PARTS);
    this.#splitParts = split - this.#splitMilli * PARTS;
  }

  #fill(now: number): void {
    this.level = this.burst;
    this.carry = 0;
    this.at = Math.ceil(now);
  }

  /** Brings the bucket up to date; with nothing to do when `at` is `now`, so ask before. */
  #settle(now: number): void {
    if (this.level === this.burst) {
      this.at = Math.ceil(now);
      return;
    }
    const elapsed = Math.min(Math.floor(now) - this.at, AHEAD_MS_MAX);
    if (elapsed <= 0) return;
    // The estimate decides only far beyond the burst, where its rounding cannot matter.
    if (elapsed * this.#rate > this.burst - this.level + 1) {
      this.#fill(now);
      return;
    }
    const parts = this.#parts(elapsed);
    const milli = wholes(parts);
    this.level += this.#milli(elapsed) + milli;
    this.carry = parts - milli * PARTS;
    this.at += elapsed;
    if (this.level >= this.burst) this.#fill(now);
  }

  /** The billionths that `elapsed` adds, with the carry, above those in `#milli`. */
  #parts(elapsed: number): number {
    if (elapsed < SPLIT) return this.#fraction * elapsed + this.carry;
    const high = Math.floor(elapsed / SPLIT);
    return this.#fraction * (elapsed - high * SPLIT) + this.#splitParts * high + this.carry;
  }

  #milli(elapsed: number): number {
    if (elapsed < SPLIT) return this.#whole * elapsed;
    return this.#whole * elapsed + this.#splitMilli * Math.floor(elapsed / SPLIT);
  }

  /** The fewest milliseconds after `at` that bring `milli` more. */
  #msUntil(milli: number): number {
    let ms = Math.max(0, Math.floor((milli - this.carry / PARTS) / this.#rate) - 1);
    if (ms >= AHEAD_MS_MAX) return Infinity;
    while (this.#milli(ms) + wholes(this.#parts(ms)) < milli) ms++;
    return ms;
  }
}

/** Exact below 2^53: no quotient there is nearer to the next whole number than its rounding. */
function wholes(parts: number): number {
  return Math.floor(parts / PARTS);
}

import { SluiceError } from "@sluice/protocol";

/**
 * A token bucket for requests. It may go into debt, so that a batch is taken as a whole and paid
 * for afterwards: over any time the rate holds.
 */
export class RequestBucket {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #now: () => number;
  #tokens: number;
  #at: number;

  /** `burst`: what it holds; without it a tenth of a second's worth, and one at least. */
  constructor(perSecond: number, now: () => number = () => performance.now(), burst?: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst ?? Math.max(1, perSecond / 10);
    this.#now = now;
    this.#tokens = this.#burst;
    this.#at = now();
  }

  /** Takes `count`, whatever that leaves; answers 0, or how long to stay away. */
  take(count: number): number {
    const waitMs = this.waitMs();
    if (waitMs === 0) this.#tokens -= count;
    return waitMs;
  }

  /** How long until something can be taken; 0: now. */
  waitMs(): number {
    const now = this.#now();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs);
    this.#at = now;
    // A whole token: less would let one through for every call that comes.
    return this.#tokens >= 1 ? 0 : Math.max(1, Math.ceil((1 - this.#tokens) / this.#perMs));
  }
}

export function tooManyAdds(retryAfterMs: number): SluiceError {
  const message = `the server's limit on added jobs is reached; retry after ${retryAfterMs} ms`;
  return new SluiceError("RATE_LIMITED", message, { retryAfterMs });
}

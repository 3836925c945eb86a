import { FAILURES_MAX, REST_MS, REST_MS_MAX } from "../limits.ts";

/**
 * Lets a script that fails again and again rest: its queue uses its templates and defaults
 * meanwhile. A script that cost a thread rests at once, and longer each time it does so.
 */
export class Breaker {
  readonly #now: () => number;
  /** Failures in a row. */
  failures = 0;
  #kills = 0;
  #until = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get isOpen(): boolean {
    return this.#now() < this.#until;
  }

  hear(isOk: boolean): void {
    this.failures = isOk ? 0 : this.failures + 1;
    if (isOk) this.#kills = 0;
    if (this.failures >= FAILURES_MAX) this.#open(REST_MS);
  }

  /** A call did not end, and its thread had to be. */
  hearKilled(): void {
    this.#open(Math.min(REST_MS * 2 ** this.#kills, REST_MS_MAX));
    this.#kills++;
  }

  #open(restMs: number): void {
    // After the rest it has all its tries again.
    this.failures = 0;
    this.#until = this.#now() + restMs;
  }
}

import { FAILURES_MAX, REST_MS } from "./limits.ts";

/** Lets a script that fails again and again rest: its queue goes on with what it has besides. */
export class Breaker {
  readonly #now: () => number;
  /** Failures in a row. */
  failures = 0;
  #until = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get isOpen(): boolean {
    return this.#now() < this.#until;
  }

  hear(isOk: boolean): void {
    this.failures = isOk ? 0 : this.failures + 1;
    if (this.failures < FAILURES_MAX) return;
    // After the rest it has all its tries again.
    this.failures = 0;
    this.#until = this.#now() + REST_MS;
  }
}

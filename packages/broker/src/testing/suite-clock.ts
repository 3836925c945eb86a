import type { Clock, Timer } from "@sluice/protocol";

const START = 1_700_000_000_000;

interface Waiting {
  readonly time: number;
  readonly callback: () => void;
}

/** Time that passes when the suite says so. */
export class SuiteClock implements Clock {
  #now = START;
  /** Waits until all that needs no time has come through. */
  readonly #settle: () => Promise<void>;
  readonly #waiting = new Set<Waiting>();

  constructor(settle: () => Promise<void>) {
    this.#settle = settle;
  }

  now(): number {
    return this.#now;
  }

  at(time: number, callback: () => void): Timer {
    const waiting = { time, callback };
    this.#waiting.add(waiting);
    return { cancel: () => this.#waiting.delete(waiting) };
  }

  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await this.#settle();
    for (;;) {
      const next = this.#next(until);
      if (next === undefined) break;
      this.#waiting.delete(next);
      this.#now = Math.max(this.#now, next.time);
      next.callback();
      await this.#settle();
    }
    this.#now = until;
    await this.#settle();
  }

  /** A process that is gone has no timers any more. */
  forget(): void {
    this.#waiting.clear();
  }

  #next(until: number): Waiting | undefined {
    const due = [...this.#waiting].filter(({ time }) => time <= until);
    return due.sort((a, b) => a.time - b.time)[0];
  }
}

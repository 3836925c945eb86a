import { setImmediate } from "node:timers/promises";
import type { Clock, Timer } from "@sluice/protocol";

const START = 1_700_000_000_000;

interface Waiting {
  readonly time: number;
  readonly callback: () => void;
}

/** Time that passes when a test says so. */
export class FakeClock implements Clock {
  #now = START;
  readonly #waiting = new Set<Waiting>();
  readonly #settle: () => Promise<void>;

  /** `settle` lets all come through that needs no time. */
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

  #next(until: number): Waiting | undefined {
    let next: Waiting | undefined;
    for (const waiting of this.#waiting) {
      if (waiting.time <= until && (next === undefined || waiting.time < next.time)) next = waiting;
    }
    return next;
  }
}

export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate();
}

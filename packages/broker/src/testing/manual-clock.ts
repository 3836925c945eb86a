import type { Clock, Timer } from "@sluice/protocol";

/** A clock that moves when it is told to. */
export class ManualClock implements Clock {
  #now = 1_000_000;
  readonly #timers = new Set<{ time: number; callback: () => void }>();

  now(): number {
    return this.#now;
  }

  at(time: number, callback: () => void): Timer {
    const timer = { time, callback };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  get timers(): number {
    return this.#timers.size;
  }

  /** Moves on, from timer to timer, and lets the event loop turn after each. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await turn();
      const due = [...this.#timers].filter(({ time }) => time <= end);
      const next = due.sort((a, b) => a.time - b.time)[0];
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.time);
      this.#timers.delete(next);
      next.callback();
    }
    this.#now = end;
    await turn();
  }
}

/** Lets everything that is ready to run do so. */
export async function turn(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise(setImmediate);
}

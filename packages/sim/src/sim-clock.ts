// Time that passes only when the driver advances it. The wall clock may step; this clock never
// does.

import type { Clock, Timer } from "@sluice/protocol";

interface Waiting {
  readonly time: number;
  readonly order: number;
  readonly callback: () => void;
}

export class SimClock implements Clock {
  #now: number;
  #orders = 0;
  readonly #waiting = new Set<Waiting>();
  wallAheadMs = 0;

  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  wall(): number {
    return this.#now + this.wallAheadMs;
  }

  at(time: number, callback: () => void): Timer {
    const waiting = { time, callback, order: this.#orders++ };
    this.#waiting.add(waiting);
    return { cancel: () => this.#waiting.delete(waiting) };
  }

  // Moves to the next timer, or to the end of `ms`; answers what is left of them.
  step(ms: number): number {
    const until = this.#now + ms;
    const next = this.#next(until);
    if (next === undefined) {
      this.#now = until;
      return 0;
    }
    this.#waiting.delete(next);
    this.#now = Math.max(this.#now, next.time);
    next.callback();
    return until - this.#now;
  }

  // A timer has come that has not fired.
  get isDue(): boolean {
    return this.#next(this.#now) !== undefined;
  }

  // A process that is gone has no timers any more.
  forget(): void {
    this.#waiting.clear();
  }

  #next(until: number): Waiting | undefined {
    let next: Waiting | undefined;
    for (const waiting of this.#waiting) {
      if (waiting.time > until) continue;
      const isSooner =
        next === undefined ||
        waiting.time < next.time ||
        (waiting.time === next.time && waiting.order < next.order);
      if (isSooner) next = waiting;
    }
    return next;
  }
}

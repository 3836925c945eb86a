/** The real clock: wall time at the start plus monotonic time since. A test passes a FakeClock. */
import type { Clock, Timer } from "sluice";

const TIMEOUT_MS_MAX = 2 ** 31 - 1;

export class WallClock implements Clock {
  readonly #start = Date.now() - performance.now();

  now(): number {
    return this.#start + performance.now();
  }

  at(time: number, callback: () => void): Timer {
    const wait = Math.ceil(time - this.now());
    const timeout = setTimeout(callback, Math.min(Math.max(wait, 0), TIMEOUT_MS_MAX));
    return { cancel: () => clearTimeout(timeout), unref: () => void timeout.unref() };
  }
}

import type { Clock, Timer } from "@sluice/protocol";

/** The longest time that Node's timers can wait, in milliseconds; beyond it they fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Wall time at the start plus monotonic time since: a step of the wall clock moves only what was
 * told a time on the wall. After a restart time goes on from what the log says if the wall clock is
 * behind that.
 */
export class SystemClock implements Clock {
  #offsetMs = Date.now() - performance.now();

  now(): number {
    return Math.floor(this.#offsetMs + performance.now());
  }

  wall(): number {
    return Date.now();
  }

  at(time: number, callback: () => void): Timer {
    let timer: NodeJS.Timeout;
    let isRef = true;
    const wait = (): void => {
      // Node's timers may fire a fraction of a millisecond early: then wait once more.
      const ms = Math.ceil(time - this.#offsetMs - performance.now());
      if (ms <= 0) callback();
      else {
        timer = setTimeout(wait, Math.min(ms, TIMER_MS_MAX));
        if (!isRef) timer.unref();
      }
    };
    const ms = Math.ceil(time - this.#offsetMs - performance.now());
    timer = setTimeout(wait, Math.max(0, Math.min(ms, TIMER_MS_MAX)));
    const unref = (): void => {
      isRef = false;
      timer.unref();
    };
    return { cancel: () => clearTimeout(timer), unref };
  }
}

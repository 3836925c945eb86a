/** The only source of time outside the engine; a test passes its own. */
export interface Clock {
  /** Wall time at the start plus monotonic time since, in milliseconds: it never goes back. */
  now(): number;
  /** The time on the wall, which may step: what `runAt` and `deadline` are measured against. */
  wall?(): number;
  /** Calls back once, at or after `time` and never before it, unless cancelled first. */
  at(time: number, callback: () => void): Timer;
}

/** The time on the wall; of a clock that has none, its own. */
export function wallTime(clock: Clock): number {
  return clock.wall?.() ?? clock.now();
}

export interface Timer {
  cancel(): void;
  /** From now on the timer alone does not keep the process alive. */
  unref?(): void;
}

/** The longest time that a timer of JavaScript can wait, 24.8 days; a longer one fires at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * The real clock, in Node and in browsers: wall time at the start plus monotonic time since. A step
 * of the wall clock moves only `wall()`.
 */
export class SystemClock implements Clock {
  readonly #offsetMs = Date.now() - performance.now();

  now(): number {
    return Math.floor(this.#offsetMs + performance.now());
  }

  wall(): number {
    return Date.now();
  }

  at(time: number, callback: () => void): Timer {
    // `now()` is a whole number, so it reaches a fraction only with the next one.
    const until = Math.ceil(time) - this.#offsetMs;
    let timer: ReturnType<typeof setTimeout>;
    let isRef = true;
    const wait = (): void => {
      const ms = Math.ceil(until - performance.now());
      // Timers may fire a fraction of a millisecond early, and cannot wait for every time at once.
      if (ms > 0) arm(ms);
      else callback();
    };
    const arm = (ms: number): void => {
      timer = setTimeout(wait, Math.max(0, Math.min(ms, TIMER_MS_MAX)));
      if (!isRef) unref(timer);
    };
    arm(Math.ceil(until - performance.now()));
    return {
      cancel: () => clearTimeout(timer),
      unref: () => {
        isRef = false;
        unref(timer);
      },
    };
  }
}

/** Browsers have numbers for timers, which keep nothing alive. */
function unref(timer: unknown): void {
  (timer as { unref?(): void }).unref?.();
}

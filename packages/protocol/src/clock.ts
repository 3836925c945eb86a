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

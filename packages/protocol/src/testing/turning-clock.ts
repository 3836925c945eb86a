/** Time for tests of what runs by turns of the event loop. */
import type { Clock } from "../clock.ts";
import { FakeClock } from "../fake-clock.ts";

/** A clock that lets the event loop turn so often before it moves on. */
export function turningClock(count: number, options?: { now?: number }): FakeClock {
  return settlingClock(() => turns(count), options);
}

/** A clock that moves on when `settle` says that all that needs no time has happened. */
export function settlingClock(settle: () => Promise<void>, options?: { now?: number }): FakeClock {
  const clock = new FakeClock(options);
  clock.attach({ drain: settle });
  return clock;
}

/** The same time, which does not wait for a Sluice: for tests in which no answer comes. */
export function unattached(clock: FakeClock): Clock {
  return { now: () => clock.now(), at: (time, callback) => clock.at(time, callback) };
}

export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

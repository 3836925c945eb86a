/** What every clock promises: `Clock` says it in words, these cases check it. */
import type { Clock } from "../clock.ts";
import type { Register } from "./case.ts";
import { check, equal } from "./check.ts";

/** A clock, and how to let time pass on it: at least so many milliseconds. */
export interface ClockUnderTest {
  readonly clock: Clock;
  pass(ms: number): Promise<void>;
}

type ClockCase = (tested: ClockUnderTest) => Promise<void>;

const DAY_MS = 86_400_000;
const STEPS = 200;

const CASES: Readonly<Record<string, ClockCase>> = {
  "it never goes back, whatever the wall clock does": async ({ clock, pass }) => {
    const { now } = Date;
    let last = clock.now();
    try {
      for (let step = 0; step < STEPS; step++) {
        Date.now = () => now() + (step % 2 === 0 ? -DAY_MS : DAY_MS);
        const next = clock.now();
        check(next >= last, `expected at least ${last}, got ${next}`);
        check(next < last + DAY_MS, `expected a moment after ${last}, got ${next}`);
        last = next;
      }
    } finally {
      Date.now = now;
    }
    await pass(3);
    check(clock.now() >= last + 3, `expected at least ${last + 3}, got ${clock.now()}`);
  },

  "a timer fires at its time or after it, never before": async ({ clock, pass }) => {
    const early: string[] = [];
    let fired = 0;
    const begin = clock.now();
    for (let step = 0; step < STEPS; step++) {
      const time = begin + step / 16;
      clock.at(time, () => {
        fired++;
        if (clock.now() < time) early.push(`${time} at ${clock.now()}`);
      });
    }
    await until(() => fired === STEPS, pass);
    equal(early, [], "timers that fired before their time");
  },

  "a timer for the past fires, after the call that sets it": async ({ clock, pass }) => {
    let isFired = false;
    clock.at(clock.now() - DAY_MS, () => (isFired = true));
    check(!isFired, "it fired within the call that set it");
    await until(() => isFired, pass);
  },

  "a timer fires once, and one that a timer sets fires too": async ({ clock, pass }) => {
    let first = 0;
    let second = 0;
    clock.at(clock.now() + 1, () => {
      first++;
      clock.at(clock.now() + 1, () => second++);
    });
    await until(() => second > 0, pass);
    await pass(3);
    equal([first, second], [1, 1], "how often the two timers fired");
  },

  "a cancelled timer does not fire": async ({ clock, pass }) => {
    let fired = 0;
    const timer = clock.at(clock.now() + 1, () => fired++);
    const other = clock.at(clock.now() + 2, () => fired++);
    timer.cancel();
    timer.cancel();
    await until(() => fired > 0, pass);
    equal(fired, 1, "timers that fired");
    other.cancel();
  },

  "a timer further away than JavaScript can wait does not fire early": async (tested) => {
    const { clock, pass } = tested;
    const fired: number[] = [];
    const waits = [2 ** 31, 2 ** 32 + 1, 2 ** 40, 100 * 365 * DAY_MS];
    const timers = waits.map((ms) => clock.at(clock.now() + ms, () => fired.push(ms)));
    await pass(3);
    equal(fired, [], "timers that fired early");
    for (const timer of timers) timer.cancel();
  },

  "a timer that keeps no process alive fires all the same": async ({ clock, pass }) => {
    let isFired = false;
    clock.at(clock.now() + 1, () => (isFired = true)).unref?.();
    await until(() => isFired, pass);
  },
};

/** The suite that an implementation of `Clock` must pass; it registers one test a case. */
export function clockConformance(
  name: string,
  open: () => ClockUnderTest,
  register: Register,
): void {
  for (const [sentence, run] of Object.entries(CASES)) {
    register(`${name}: ${sentence}`, () => run(open()));
  }
}

/** Lets time pass until it is true. */
async function until(holds: () => boolean, pass: (ms: number) => Promise<void>): Promise<void> {
  while (!holds()) await pass(1);
}

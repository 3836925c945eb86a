import type { Clock, Timer } from "../clock.ts";

/** The longest time that a timer of JavaScript can wait. */
const LONGEST_MS = 2 ** 31 - 1;

const now = (): number => performance.timeOrigin + performance.now();

/** The time on the wall when the process began, and what has passed since: Node and browsers. */
export const STEADY_CLOCK: Clock = {
  now,
  at(time: number, callback: () => void): Timer {
    const ms = Math.min(LONGEST_MS, Math.max(0, Math.ceil(time - now())));
    const timer: unknown = setTimeout(callback, ms);
    return {
      cancel: () => clearTimeout(timer as Parameters<typeof clearTimeout>[0]),
      unref: () => (timer as { unref?(): void }).unref?.(),
    };
  },
};

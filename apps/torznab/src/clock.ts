import type { Clock } from "sluice";

/** The time of this machine; tests pass a fake one. */
export const systemClock: Clock = {
  now: () => Date.now(),
  at(time, callback) {
    const timer = setTimeout(callback, Math.max(0, time - Date.now()));
    return { cancel: () => clearTimeout(timer), unref: () => void timer.unref() };
  },
};

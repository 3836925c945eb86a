// What the start times of jobs say of a limit.

export interface Pace {
  // Starts a second, in whole seconds from the second one on: a limiter may begin with a burst.
  readonly perSecond: number;
  // The most starts in any window of almost a second, and in any tenth of one.
  readonly mostInWindow: number;
  readonly mostInTenth: number;
}

const SECOND_MS = 1000;
const TENTH_MS = 100;
const WAY_MS = 10;
// A limit is kept where jobs are handed out, and the way from there to the handler is not always as
// long: a window of a whole second would count jobs of two.
export const WINDOW_MS = SECOND_MS - WAY_MS;

// The times are in their order.
export function paceOf(times: readonly number[]): Pace {
  return {
    perSecond: perSecondOf(times),
    mostInWindow: mostIn(times, WINDOW_MS),
    mostInTenth: mostIn(times, TENTH_MS),
  };
}

function perSecondOf(times: readonly number[]): number {
  const from = times[0]! + SECOND_MS;
  const seconds = Math.floor((times.at(-1)! - from) / SECOND_MS);
  if (seconds < 1) throw new Error("two seconds are too short to judge a limit");
  const until = from + seconds * SECOND_MS;
  return times.filter((time) => time >= from && time < until).length / seconds;
}

// A window holds its begin and not its end.
function mostIn(times: readonly number[], windowMs: number): number {
  let most = 0;
  let from = 0;
  for (const [index, time] of times.entries()) {
    while (times[from]! <= time - windowMs) from += 1;
    most = Math.max(most, index - from + 1);
  }
  return most;
}

// What the start times of jobs say of a limit.

export interface Pace {
  // Starts a second, from the first to the last.
  readonly perSecond: number;
  // The most starts in any second, and in any tenth of one.
  readonly mostInSecond: number;
  readonly mostInTenth: number;
}

const SECOND_MS = 1000;
const TENTH_MS = 100;

// The times are in their order.
export function paceOf(times: readonly number[]): Pace {
  const spanMs = times.at(-1)! - times[0]!;
  return {
    perSecond: ((times.length - 1) * SECOND_MS) / spanMs,
    mostInSecond: mostIn(times, SECOND_MS),
    mostInTenth: mostIn(times, TENTH_MS),
  };
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

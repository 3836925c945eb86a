// Runs one seed after another. One in a hundred runs twice: the same seed must give the same
// events.

import { type RunEnd, type RunOptions, runSeed } from "./run.ts";

const TWICE_EVERY = 100;

export function* sweep(
  seeds: Iterable<number>,
  options: Omit<RunOptions, "seed"> = {},
): Generator<RunEnd> {
  let ran = 0;
  for (const seed of seeds) {
    const end = runSeed({ ...options, seed });
    const isTwice = ran % TWICE_EVERY === 0 && end.failure === undefined;
    ran += 1;
    yield isTwice ? comparedToItself(end, options) : end;
  }
}

function comparedToItself(end: RunEnd, options: Omit<RunOptions, "seed">): RunEnd {
  const again = runSeed({ ...options, seed: end.seed });
  if (again.hash === end.hash) return end;
  const failure = `determinism: the trace is ${end.hash} and then ${again.hash}`;
  return { ...end, failure, last: again.last };
}

export function* range(start: number, count: number): Generator<number> {
  for (let seed = start; seed < start + count; seed++) yield seed;
}

// Looks for a seed in which an engine breaks a promise that the real one keeps.

import type { MakeEngine } from "../broker/broker.ts";
import { type RunOptions, runSeed } from "../run/run.ts";

export interface Find {
  readonly seed: number;
  readonly failure: string;
  // Seeds that were tried.
  readonly tried: number;
}

export function hunt(
  bug: { readonly makeEngine?: MakeEngine; readonly answersEarly?: boolean },
  first: number,
  seedsMax: number,
): Find | undefined {
  for (let tried = 1; tried <= seedsMax; tried++) {
    const seed = first + tried - 1;
    const options: RunOptions = { ...bug, seed };
    const { failure } = runSeed(options);
    if (failure !== undefined && runSeed({ seed }).failure === undefined) {
      return { seed, failure, tried };
    }
  }
  return undefined;
}

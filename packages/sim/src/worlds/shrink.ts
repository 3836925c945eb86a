// Makes the list of calls of a failing world short: drops calls as long as the same rule breaks.

import type { Call } from "./call.ts";
import { type MakeEngine, makeRealEngine } from "./port.ts";
import { type EngineWorldEnd, type Failure, replay } from "./run.ts";

const TRIES_MAX = 4_000;

export interface Shrunk {
  readonly calls: readonly Call[];
  readonly failure: Failure;
}

export function shrink(end: EngineWorldEnd, makeEngine: MakeEngine = makeRealEngine): Shrunk {
  const rule = end.failure!.rule;
  let best: Shrunk = { calls: end.calls.slice(0, end.failure!.callNumber), failure: end.failure! };
  let tries = 0;
  const attempt = (calls: readonly Call[]): boolean => {
    tries += 1;
    const failure = replay(end, calls, makeEngine);
    if (failure?.rule !== rule) return false;
    best = { calls: calls.slice(0, failure.callNumber), failure };
    return true;
  };
  for (let size = Math.ceil(best.calls.length / 2); size >= 1; ) {
    let dropped = false;
    for (let from = best.calls.length - size; from > -size && tries < TRIES_MAX; from -= size) {
      const start = Math.max(0, from);
      const without = [...best.calls.slice(0, start), ...best.calls.slice(start + size)];
      if (without.length < best.calls.length && attempt(without)) dropped = true;
    }
    if (size === 1 && !dropped) break;
    if (tries >= TRIES_MAX) break;
    size = size === 1 ? 1 : Math.ceil(size / 2);
  }
  return best;
}

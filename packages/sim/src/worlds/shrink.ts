// What a failing world prints: enough to see it, to run it again, and to save it. The list of its
// calls is made short first: calls are dropped as long as the same rule breaks.

import { type Call, describe } from "../model/call.ts";
import { type EngineRun, type Failure, play } from "./play.ts";

const TRIES_MAX = 4_000;

interface Shrunk {
  readonly calls: readonly Call[];
  readonly failure: Failure;
}

export function report(run: EngineRun, made: readonly Call[], failure: Failure): string {
  const { calls, failure: last } = shrink(run, { calls: made, failure });
  const where = last.callNumber > calls.length ? "the drain" : `call ${last.callNumber}`;
  return [
    `world --seed ${run.seed} --kind ${run.kind} broke at call ${failure.callNumber}`,
    `  ${failure.message}`,
    `shrunk to ${calls.length} calls, broken at ${where}:`,
    `  ${last.message}`,
    ...calls.map((call, index) => `  ${index + 1}. ${describe(call)}`),
    `run it again with: npm run worlds -- --seed ${run.seed} --kind ${run.kind}`,
  ].join("\n");
}

function shrink(run: EngineRun, { calls: all, failure: first }: Shrunk): Shrunk {
  const { rule } = first;
  let best: Shrunk = { calls: all.slice(0, first.callNumber), failure: first };
  let tries = 0;
  const attempt = (calls: readonly Call[]): boolean => {
    tries += 1;
    const { failure } = play(run, () => calls);
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

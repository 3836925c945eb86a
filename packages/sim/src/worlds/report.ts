// What a failing world prints: enough to see it, to run it again, and to save it.

import { describe } from "./call.ts";
import { type MakeEngine, makeRealEngine } from "./port.ts";
import type { EngineWorldEnd } from "./run.ts";
import { shrink } from "./shrink.ts";

export function reportEngineWorld(
  end: EngineWorldEnd,
  makeEngine: MakeEngine = makeRealEngine,
): string {
  const { seed, kind, failure } = end;
  const { calls, failure: last } = shrink(end, makeEngine);
  return [
    `world --seed ${seed} --kind ${kind} broke at call ${failure!.callNumber}`,
    `  ${failure!.message}`,
    `shrunk to ${calls.length} calls, broken at ${where(last.callNumber, calls.length)}:`,
    `  ${last.message}`,
    ...calls.map((call, index) => `  ${index + 1}. ${describe(call)}`),
  ].join("\n");
}

function where(callNumber: number, count: number): string {
  return callNumber > count ? "the drain" : `call ${callNumber}`;
}

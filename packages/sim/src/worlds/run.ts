// One world from its seed.

import { Random } from "../random.ts";
import type { WorldEnd } from "../world-end.ts";
import { Generator } from "./generate.ts";
import { KINDS, type Kind, makePlan } from "./plan.ts";
import { play } from "./play.ts";
import { type MakeEngine, makeRealEngine } from "./port.ts";
import { report } from "./shrink.ts";

const CALLS_PER_WORLD = 250;

export interface EngineWorldOptions {
  readonly kind?: Kind | undefined;
  readonly makeEngine?: MakeEngine;
  readonly print?: ((line: string) => void) | undefined;
}

export function runEngineWorld(
  seed: number,
  { kind: named, makeEngine = makeRealEngine, print }: EngineWorldOptions = {},
): WorldEnd {
  // The kind is drawn apart, so that a world is the same whether its kind was drawn or named.
  const kind = named ?? new Random(seed).pick(KINDS);
  const random = new Random(seed);
  const plan = makePlan(random, kind);
  const run = { seed, kind, plan, makeEngine };
  const { calls, world, failure } = play(
    run,
    (world) => {
      return new Generator(random, plan, world).calls(CALLS_PER_WORLD);
    },
    print,
  );
  const { sumMs, longestMs } = world.model.idle.totals;
  const counts = {
    calls: calls.length,
    leases: world.leases,
    "ms of idle places": sumMs,
    "ms idle at most": longestMs,
  };
  if (failure === undefined) return { failure, counts };
  return { failure: failure.message, counts, report: () => report(run, calls, failure) };
}

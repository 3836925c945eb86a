// Which parts a gate of a world has. Its numbers change at run time, its parts rarely do.

import type { GateConfig } from "@sluice/engine";
import type { Random } from "../random.ts";

export interface GateShape {
  readonly hasRate: boolean;
  readonly from: "start" | "end" | undefined;
  readonly windowsMs: readonly number[];
  readonly hasConcurrency: boolean;
  readonly hasLadder: boolean;
}

export function gateShape(random: Random): GateShape {
  const main = random.pick(["rate", "rate", "interval", "windows", "concurrency"] as const);
  const also = (part: typeof main) => main === part || random.chance(0.15);
  return {
    hasRate: also("rate"),
    from: also("interval") ? random.pick(["start", "end"]) : undefined,
    windowsMs: also("windows") ? random.pick([[100], [1_000], [100, 1_000]]) : [],
    hasConcurrency: also("concurrency"),
    hasLadder: random.chance(0.3),
  };
}

export function gateConfig(random: Random, shape: GateShape): GateConfig {
  return {
    ...(shape.hasRate ? rate(random) : {}),
    ...(shape.from === undefined ? {} : { interval: interval(random, shape.from) }),
    ...(shape.windowsMs.length === 0
      ? {}
      : { windows: shape.windowsMs.map((perMs) => ({ limit: random.between(1, 5), perMs })) }),
    ...(shape.hasConcurrency ? { concurrency: random.between(1, 3) } : {}),
    ...(shape.hasLadder ? { ladder: [100, 1_000, 5_000] } : {}),
  };
}

function rate(random: Random): Pick<GateConfig, "rate" | "burst"> {
  const perSecond = random.pick([0.1, 0.5, 0.75, 1, 2, 3, 5, 10, 20, 100, 1_000]);
  const burst = random.pick([undefined, 1, 1.5, 2, 3, 5]);
  return burst === undefined ? { rate: perSecond } : { rate: perSecond, burst };
}

function interval(random: Random, from: "start" | "end"): NonNullable<GateConfig["interval"]> {
  return {
    ms: random.pick([10, 50, 100, 1_000]),
    from,
    ...(random.chance(0.4) ? { factors: random.pick([[0.1, 0.5, 1], [1, 2], [0]]) } : {}),
    ...(random.chance(0.3) ? { floorMs: random.pick([5, 30]) } : {}),
  };
}

// Limits of gates. Whatever they are, a minute lets at least thirty jobs pass a gate, so that a
// backlog can drain.

import type { GateConfig } from "@sluice/engine";
import type { Random } from "../worlds/random.ts";

export const GATE_KINDS = ["rate", "windows", "concurrency", "interval", "mixed"] as const;
export type GateKind = (typeof GATE_KINDS)[number];

export function makeLimits(random: Random, kind: GateKind): GateConfig {
  const ladder = random.chance(0.3) ? { ladder: [500, 2_000, 10_000] } : {};
  if (kind === "rate") return { ...rate(random), ...ladder };
  if (kind === "windows") return { ...windows(random), ...ladder };
  if (kind === "concurrency") return { concurrency: random.between(1, 5), ...ladder };
  if (kind === "interval") return { ...interval(random), ...ladder };
  return {
    ...rate(random),
    concurrency: random.between(1, 4),
    ...(random.chance(0.5) ? windows(random) : {}),
    ...ladder,
  };
}

function rate(random: Random): GateConfig {
  const perSecond = random.pick([0.7, 1, 1.5, 2, 3.3, 5, 10]);
  return random.chance(0.5)
    ? { rate: perSecond }
    : { rate: perSecond, burst: random.pick([1, 2, 3, 5, 8]) };
}

function windows(random: Random): GateConfig {
  const short = { limit: random.between(5, 20), perMs: 10_000 };
  const long = { limit: random.between(60, 200), perMs: 60_000 };
  return { windows: random.pick([[short], [long], [short, long]]) };
}

function interval(random: Random): GateConfig {
  return {
    interval: {
      ms: random.pick([50, 200, 700]),
      from: random.pick(["start", "end"]),
      ...(random.chance(0.4) ? { factors: [0.1, 0.5, 1] } : {}),
      ...(random.chance(0.3) ? { floorMs: 30 } : {}),
    },
  };
}

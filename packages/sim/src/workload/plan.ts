// What a seed is about: queues with their policies, gates that they share, who works and what
// goes wrong. Drawn once, before the hour begins.

import type { FairnessKey, GateConfig } from "@sluice/engine";
import type { QueueOptions } from "../model/policy.ts";
import type { Random } from "../worlds/random.ts";
import { GATE_KINDS, type GateKind, makeLimits } from "./gate-limits.ts";

export interface GatePlan {
  readonly key: string;
  readonly kind: GateKind;
  readonly limits: GateConfig;
}

export interface LanePlan {
  readonly key: FairnessKey;
  // Absent where the queue's policy has the weights.
  readonly weight: number | undefined;
}

export interface QueuePlan {
  readonly name: string;
  readonly options: QueueOptions;
  readonly tiers: number;
  readonly lanes: readonly LanePlan[];
  readonly hasPaths: boolean;
  readonly gateSets: readonly (readonly string[])[];
  readonly gatedShare: number;
  readonly workers: readonly WorkerKind[];
  readonly addsPerMinute: number;
}

export const WORKER_KINDS = ["fast", "slow", "failing", "dying", "hanging", "giving"] as const;
export type WorkerKind = (typeof WORKER_KINDS)[number];

export const FAULTS = ["crash", "ahead", "back", "still", "slowSync"] as const;
export type Fault = (typeof FAULTS)[number];

export interface Plan {
  readonly queues: readonly QueuePlan[];
  readonly gates: readonly GatePlan[];
  // Keys that jobs name; some are configured by a pattern, some not at all.
  readonly gateKeys: readonly string[];
  readonly faults: readonly Fault[];
  readonly hasOperators: boolean;
  readonly copiesFacts: boolean;
  // Whether the operators open the gates before the drain, or the drain must do with them.
  readonly opensGates: boolean;
}

export function makePlan(random: Random): Plan {
  const gates = makeGates(random);
  const gateKeys = gates.flatMap(({ key }) =>
    key.endsWith("*") ? [`${key.slice(0, -1)}a`, `${key.slice(0, -1)}b`] : [key],
  );
  if (random.chance(0.3)) gateKeys.push("free");
  const queues = Array.from({ length: random.between(1, 3) }, (_, i) =>
    makeQueue(random, `q${i}`, gateKeys),
  );
  const faults = random.some(FAULTS, 0.6);
  return {
    queues,
    gates,
    gateKeys,
    faults,
    hasOperators: random.chance(0.8),
    copiesFacts: random.chance(0.1),
    opensGates: random.chance(0.4),
  };
}

function makeGates(random: Random): GatePlan[] {
  const gates: GatePlan[] = [];
  for (let i = 0; i < random.between(1, 4); i++) {
    const kind = random.pick(GATE_KINDS);
    gates.push({ key: `g${i}`, kind, limits: makeLimits(random, kind) });
  }
  if (random.chance(0.4)) {
    const kind = random.pick(GATE_KINDS);
    gates.push({ key: "provider:*", kind, limits: makeLimits(random, kind) });
  }
  return gates;
}

function makeQueue(random: Random, name: string, gateKeys: readonly string[]): QueuePlan {
  const tiers = random.between(1, 4);
  const hasPaths = random.chance(0.25);
  const hasWeights = random.chance(0.4);
  const lanes = makeLanes(random, hasPaths, hasWeights);
  const isSmall = random.chance(0.3);
  return {
    name,
    tiers,
    hasPaths,
    lanes,
    options: {
      tiers: tierOptions(random, tiers, isSmall),
      leaseMs: random.pick([2_000, 10_000, 30_000]),
      retry: {
        attempts: random.between(1, 4),
        minMs: random.pick([10, 1_000]),
        maxMs: 30_000,
        factor: 2,
        jitter: random.pick([0, 0.2]),
      },
      ...orderOptions(random, tiers),
      ...capacityOptions(random, isSmall),
      ...rareOptions(random),
    },
    gateSets: makeGateSets(random, gateKeys),
    gatedShare: random.pick([0, 0.3, 0.6, 0.9]),
    workers: makeWorkers(random),
    addsPerMinute: random.pick([3, 8, 15]),
  };
}

function makeLanes(random: Random, hasPaths: boolean, hasWeights: boolean): LanePlan[] {
  const lanes: LanePlan[] = [];
  const weight = (): number | undefined => (hasWeights ? random.between(1, 4) : undefined);
  for (let i = 0; i < random.between(2, 6); i++) {
    if (!hasPaths) lanes.push({ key: `tenant-${i}`, weight: weight() });
    else
      for (const user of ["x", "y"]) lanes.push({ key: [`tenant-${i}`, user], weight: weight() });
  }
  return lanes;
}

function tierOptions(random: Random, tiers: number, isSmall: boolean): QueueOptions["tiers"] & {} {
  if (!isSmall || random.chance(0.5)) return tiers;
  return Array.from({ length: tiers }, (_, i) => ({
    name: `t${i}`,
    ...(random.chance(0.6) ? { capacity: random.between(2, 20) } : {}),
  }));
}

function orderOptions(random: Random, tiers: number): QueueOptions {
  const order = random.pick(["strict", "strict", "weighted", "promote"]);
  if (order === "promote") return { promoteAfterMs: random.pick([500, 10_000, 60_000]) };
  if (order === "strict") return {};
  return { tierOrder: Array.from({ length: tiers }, () => random.between(1, 5)) };
}

function capacityOptions(random: Random, isSmall: boolean): QueueOptions {
  return {
    onFull: random.pick(["reject", "drop", "spill", "wait"]),
    fullRetryMs: random.pick([100, 5_000]),
    capacity: {
      jobs: isSmall ? random.between(5, 40) : 150,
      delayed: isSmall ? random.between(2, 20) : 150,
      ...(random.chance(0.2) ? { running: random.between(2, 6) } : {}),
      ...(random.chance(0.2) ? { perLane: random.between(3, 30) } : {}),
      ...(random.chance(0.1) ? { bytes: 20_000 } : {}),
    },
  };
}

function rareOptions(random: Random): QueueOptions {
  return {
    ...(random.chance(0.15) ? { fairness: false } : {}),
    ...(random.chance(0.2) ? { dlq: false as const } : {}),
    ...(random.chance(0.1) ? { ttlMs: 120_000 } : {}),
    ...(random.chance(0.1) ? { admission: { fill: 0.5, rate: 5, burst: 5 } } : {}),
    ...(random.chance(0.3) ? { results: { jobs: random.pick([0, 5, 50]), ms: 60_000 } } : {}),
    ...(random.chance(0.3) ? { weight: random.between(1, 3) } : {}),
  };
}

function makeGateSets(random: Random, gateKeys: readonly string[]): string[][] {
  const sets: string[][] = [];
  for (let i = 0; i < random.between(1, 3); i++) sets.push([random.pick(gateKeys)]);
  for (let i = 0; i < random.between(0, 2); i++) {
    const several = random.some(gateKeys, 0.6);
    if (several.length > 1) sets.push(several);
  }
  if (random.chance(0.2)) sets.push([...gateKeys]);
  return sets;
}

function makeWorkers(random: Random): WorkerKind[] {
  const others = Array.from({ length: random.between(0, 3) }, () => random.pick(WORKER_KINDS));
  // Without a fast one a queue is short of workers for most of the time.
  return random.chance(0.6) || others.length === 0 ? ["fast", ...others] : others;
}

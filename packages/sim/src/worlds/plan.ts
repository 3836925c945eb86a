// What a world is made of: its queues, its gates, and what its jobs may say.

import type { DedupeMode, FairnessKey, GateConfig } from "@sluice/engine";
import type { QueueChange } from "@sluice/engine/testing";
import type { Op } from "../model/call.ts";
import type { Random } from "../random.ts";
import { type GateShape, gateConfig, gateShape } from "./gate-shape.ts";

export const KINDS = [
  "ring",
  "oneGate",
  "gates",
  "several",
  "places",
  "tiers",
  "shared",
  "dedupe",
  "capacity",
  "time",
  "dead",
  "mixed",
] as const;
export type Kind = (typeof KINDS)[number];

export function kindNamed(name: string): Kind {
  const kind = KINDS.find((one) => one === name);
  if (kind === undefined) throw new Error(`${name} is not a kind of world: ${KINDS.join(", ")}`);
  return kind;
}

export interface QueuePlan {
  readonly name: string;
  readonly options: QueueChange;
  readonly tiers: number;
}

export interface GatePlan {
  // A key, or a pattern that covers several keys.
  readonly name: string;
  readonly shape: GateShape;
  readonly config: GateConfig;
}

export type WeightRule = "none" | "fixed" | "changing";

export interface Plan {
  readonly kind: Kind;
  readonly startAt: number;
  readonly isExact: boolean;
  readonly isOneGate: boolean;
  readonly queues: readonly QueuePlan[];
  readonly gates: readonly GatePlan[];
  // The keys that jobs name; some may have no configuration.
  readonly gateKeys: readonly string[];
  readonly gatesPerJob: number;
  readonly gatedShare: number;
  readonly lanes: readonly FairnessKey[];
  readonly weights: WeightRule;
  readonly costMax: number;
  readonly delayed: number;
  readonly deadlines: number;
  readonly maxWaits: number;
  readonly dedupe: number;
  readonly dedupeModes: readonly DedupeMode[];
  readonly sizes: boolean;
  readonly ops: Readonly<Partial<Record<Op, number>>>;
}

const OPS: Plan["ops"] = {
  add: 60,
  addAll: 8,
  want: 24,
  leaveWorker: 1,
  dispatch: 56,
  lease: 6,
  ack: 36,
  nack: 10,
  giveBack: 6,
  extend: 4,
  cancel: 6,
  retry: 2,
  pause: 2,
  resume: 3,
  purge: 1,
  deleteQueue: 1,
  tick: 8,
  bad: 3,
};

const GATE_OPS: Plan["ops"] = {
  setGate: 5,
  deleteGate: 2,
  cooldown: 3,
  clearCooldown: 2,
  report: 3,
};

const ALL_MODES: readonly DedupeMode[] = ["pending", "window", "debounce", "replace", "keepLast"];

export function makePlan(random: Random, kind: Kind): Plan {
  return { ...plain(random), ...MAKERS[kind](random), kind };
}

function plain(random: Random): Omit<Plan, "kind"> {
  return {
    startAt: random.pick([0, 1_000, 1_700_000_000_000]),
    isExact: false,
    isOneGate: false,
    queues: [queuePlan("q0", { tiers: 1 })],
    gates: [],
    gateKeys: [],
    gatesPerJob: 1,
    gatedShare: 0.7,
    lanes: flatLanes(random),
    weights: "none",
    costMax: 1,
    delayed: 0,
    deadlines: 0,
    maxWaits: 0,
    dedupe: 0,
    dedupeModes: ALL_MODES,
    sizes: false,
    ops: OPS,
  };
}

const MAKERS: Readonly<Record<Kind, (random: Random) => Partial<Plan>>> = {
  ring: planRing,
  oneGate: planOneGate,
  gates: (random) => ({
    ...gated(random, 1),
    ...tiered(random, 1, 2),
    costMax: random.between(1, 3),
  }),
  several: (random) => ({
    ...gated(random, 3),
    ...tiered(random, 1, 2),
    costMax: random.between(1, 2),
  }),
  places: planPlaces,
  tiers: (random) => ({
    ...(random.chance(0.5) ? gated(random, 1) : {}),
    ...tiered(random, 2, 4),
    gatedShare: 0.4,
  }),
  shared: (random) => ({
    ...gated(random, random.chance(0.3) ? 2 : 1),
    queues: Array.from({ length: random.between(2, 3) }, (_, index) =>
      queuePlan(`q${index}`, { tiers: random.between(1, 3), weight: random.between(1, 3) }),
    ),
  }),
  dedupe: (random) => ({
    dedupe: 0.7,
    delayed: 0.2,
    dedupeModes: random.chance(0.5) ? ALL_MODES : [random.pick(ALL_MODES)],
    ops: { ...OPS, cancelByKey: 6 },
  }),
  capacity: planCapacity,
  time: planTime,
  dead: planDead,
  mixed: planMixed,
};

function planRing(random: Random): Partial<Plan> {
  const weights = random.pick<WeightRule>(["none", "fixed", "changing"]);
  const canReturn = weights !== "changing";
  const tiers = random.pick([1, 1, 1, 2, 3]);
  const isWeighted = tiers > 1 && random.chance(0.5);
  const options: QueueChange = {
    tiers,
    tierOrder: isWeighted ? Array.from({ length: tiers }, () => random.between(1, 4)) : "strict",
    fairness: random.chance(0.95),
    weights: weights === "none" && random.chance(0.5) ? { a: 3, "b*": 2, "t0*": 2 } : {},
    leaseMs: 86_400_000,
    results: { jobs: 5, ms: 1e10 },
  };
  const { nack: _nack, retry: _retry, ...calm } = OPS;
  const ops: Plan["ops"] = canReturn ? OPS : calm;
  return {
    isExact: true,
    queues: Array.from({ length: random.pick([1, 1, 2]) }, (_, i) => queuePlan(`q${i}`, options)),
    lanes: random.chance(0.4) ? pathLanes(random) : flatLanes(random),
    weights,
    gateKeys: ["open:a", "open:b"],
    gatedShare: 0.2,
    costMax: random.pick([1, 1, 3, 7]),
    delayed: canReturn ? 0.1 : 0,
    ops: weights === "none" ? { ...ops, setLaneWeight: 4 } : ops,
  };
}

function planOneGate(random: Random): Partial<Plan> {
  const shape = gateShape(random);
  const config = gateConfig(random, shape);
  const { purge: _purge, deleteQueue: _deleteQueue, lease: _lease, ...calm } = OPS;
  return {
    isOneGate: true,
    queues: [queuePlan("q0", { tiers: random.pick([1, 1, 2]), leaseMs: 5_000 })],
    gates: [{ name: "g0", shape, config }],
    gateKeys: ["g0"],
    gatedShare: 1,
    weights: "fixed",
    ops: { ...calm, setGate: 3, cooldown: 3, clearCooldown: 2, report: 2 },
  };
}

// Places, and gates that are shut for much longer than a place may idle. Each gate has one part, so
// that many jobs need nothing but a place.
function planPlaces(random: Random): Partial<Plan> {
  const base = { hasRate: false, from: undefined, windowsMs: [], hasLadder: false };
  const timed = (): GateShape =>
    random.pick<GateShape>([
      { ...base, windowsMs: [random.pick([2_000, 20_000, 600_000])], hasConcurrency: false },
      { ...base, from: random.pick(["start", "end"]), hasConcurrency: false },
      { ...base, hasRate: true, hasConcurrency: false },
    ]);
  const place: GateShape = { ...base, hasConcurrency: true };
  const shapes = [place, random.chance(0.4) ? place : timed(), timed()];
  const gates = shapes.map((shape, i) => {
    const config = gateConfig(random, shape);
    return { name: `g${i}`, shape, config: slowed(random, config) };
  });
  const count = random.pick([1, 1, 2]);
  return {
    queues: Array.from({ length: count }, (_, i) =>
      queuePlan(`q${i}`, { tiers: random.pick([1, 1, 2]), leaseMs: random.pick([5_000, 600_000]) }),
    ),
    gates,
    gateKeys: gates.map(({ name }) => name),
    gatesPerJob: random.between(2, 3),
    gatedShare: 1,
    ops: { ...OPS, want: 40, cooldown: 2, clearCooldown: 1, purge: 0, deleteQueue: 0 },
  };
}

function slowed(random: Random, config: GateConfig): GateConfig {
  if (config.interval !== undefined) {
    return { ...config, interval: { ...config.interval, ms: random.pick([500, 5_000, 60_000]) } };
  }
  if (config.rate === undefined) return config;
  return { rate: random.pick([0.002, 0.1, 1]), burst: random.between(1, 3) };
}

function planCapacity(random: Random): Partial<Plan> {
  const count = random.between(1, 3);
  const tiers = Array.from({ length: count }, (_, index) => ({
    name: `t${index}`,
    ...(random.chance(0.5) ? { capacity: random.between(1, 6) } : {}),
    ...(random.chance(0.2) ? { perLane: random.between(1, 3) } : {}),
    ...(index < count - 1 && random.chance(0.2) ? { spillTo: count - 1 } : {}),
  }));
  const hasAdmission = random.chance(0.3);
  const options: QueueChange = {
    tiers,
    onFull: random.pick(["reject", "drop", "spill", "wait"]),
    fullRetryMs: random.pick([50, 500]),
    capacity: {
      jobs: random.between(3, 15),
      bytes: random.pick([1e9, 200]),
      delayed: random.between(1, 6),
      ...(random.chance(0.3) ? { perLane: random.between(1, 4) } : {}),
      ...(random.chance(0.2) ? { running: random.between(1, 4) } : {}),
    },
    ...(hasAdmission ? { admission: { fill: 0.5, rate: 2, burst: 2 } } : {}),
  };
  return {
    queues: [queuePlan("q0", options)],
    delayed: hasAdmission ? 0 : 0.3,
    dedupe: random.pick([0, 0, 0.3]),
    dedupeModes: ["pending", "replace", "keepLast"],
    sizes: true,
    ops: { ...OPS, want: 12, setQueue: 3 },
  };
}

function planTime(random: Random): Partial<Plan> {
  const isGated = random.chance(0.4);
  const ttl = random.chance(0.3) ? { ttlMs: random.pick([50, 1_000]) } : {};
  const options: QueueChange = {
    tiers: 2,
    leaseMs: random.pick([20, 200, 2_000]),
    results: { jobs: random.pick([0, 1, 4, 100]), ms: random.pick([1, 100, 1_000]) },
    retry: { attempts: 3, minMs: 20, maxMs: 100, factor: 3, jitter: random.pick([0, 0.2, 0.9]) },
    ...ttl,
  };
  return {
    ...(isGated ? gated(random, 1) : {}),
    queues: [queuePlan("q0", options)],
    gatedShare: isGated ? 0.5 : 0,
    delayed: 0.4,
    deadlines: 0.3,
    maxWaits: isGated ? 0.3 : 0,
  };
}

function planDead(random: Random): Partial<Plan> {
  const options: QueueChange = {
    tiers: 2,
    retry: {
      attempts: random.between(1, 3),
      minMs: 10,
      maxMs: 50,
      jitter: 0.5,
      deliveries: random.pick([250, 250, 2, 3]),
    },
    ...random.pick([{}, {}, { dlq: "letters" }, { dlq: "letters" }, { dlq: false as const }]),
  };
  // A dead letter queue with jobs of its own, and letters that expire.
  const letters: QueueChange = {
    retry: { attempts: 2, minMs: 10, maxMs: 50, jitter: 0.5 },
    ...random.pick([{}, { retentionMs: 500 }, { retentionMs: 5_000 }]),
  };
  return {
    ...(random.chance(0.3) ? gated(random, 1) : {}),
    queues: [
      queuePlan("q0", options),
      queuePlan("q1", options),
      ...(options.dlq === "letters" ? [queuePlan("letters", letters)] : []),
    ],
    gatedShare: 0.4,
    delayed: 0.1,
    ops: { ...OPS, nack: 40, retry: 8, redrive: 8 },
  };
}

function planMixed(random: Random): Partial<Plan> {
  return {
    ...gated(random, random.between(1, 3)),
    ...tiered(random, 1, 3),
    lanes: random.chance(0.3) ? pathLanes(random) : flatLanes(random),
    weights: random.pick<WeightRule>(["none", "fixed", "changing"]),
    gatedShare: 0.6,
    costMax: random.between(1, 3),
    delayed: 0.15,
    deadlines: 0.1,
    maxWaits: 0.1,
    dedupe: 0.15,
    ops: { ...OPS, ...GATE_OPS, cancelByKey: 2, redrive: 3, put: 2, remove: 1 },
  };
}

function gated(random: Random, gatesPerJob: number): Partial<Plan> {
  const count = random.between(gatesPerJob, 3);
  const isPattern = random.chance(0.25);
  const names = Array.from({ length: count }, (_, index) => `g${index}`);
  const gates = (isPattern ? ["g*"] : names).map((name) => {
    const shape = gateShape(random);
    return { name, shape, config: gateConfig(random, shape) };
  });
  return { gates, gateKeys: names, gatesPerJob, ops: { ...OPS, ...GATE_OPS } };
}

function tiered(random: Random, least: number, most: number): Partial<Plan> {
  const tiers = random.between(least, most);
  const isWeighted = tiers > 1 && random.chance(0.25);
  const options: QueueChange = {
    tiers,
    tierOrder: isWeighted ? Array.from({ length: tiers }, () => random.between(1, 4)) : "strict",
    ...(tiers > 1 && random.chance(0.25) ? { promoteAfterMs: random.pick([50, 1_000]) } : {}),
    leaseMs: random.pick([1_000, 30_000]),
  };
  return { queues: [queuePlan("q0", options)] };
}

function queuePlan(name: string, options: QueueChange): QueuePlan {
  const tiers = options.tiers ?? 4;
  return { name, options, tiers: typeof tiers === "number" ? tiers : tiers.length };
}

function flatLanes(random: Random): FairnessKey[] {
  return ["a", "b0", "b1", "c", "d", "e"].slice(0, random.between(1, 6));
}

function pathLanes(random: Random): FairnessKey[] {
  const lanes: FairnessKey[] = [];
  for (let tenant = random.below(3); tenant >= 0; tenant--) {
    for (let user = random.below(3); user >= 0; user--) lanes.push([`t${tenant}`, `u${user}`]);
  }
  if (random.chance(0.3)) lanes.push(["t9", "x", "y"], ["t9", "x", "z"], ["t9", "w", "y", "v"]);
  if (random.chance(0.5)) lanes.push("a");
  return lanes;
}

// One job, as a producer asks for it.

import type { JobSpec } from "@sluice/engine";
import type { Random } from "../worlds/random.ts";
import type { LanePlan, QueuePlan } from "./plan.ts";

const MODES = ["pending", "window", "debounce", "replace", "keepLast"] as const;

export function makeSpec(
  random: Random,
  queue: QueuePlan,
  lane: LanePlan,
  body: number,
  now: number,
): JobSpec {
  const spec: JobSpec = { body, fairnessKey: lane.key, priority: random.below(queue.tiers) };
  if (lane.weight !== undefined) spec.weight = lane.weight;
  if (random.chance(queue.gatedShare)) spec.gates = random.pick(queue.gateSets);
  if (random.chance(0.2)) spec.cost = random.between(1, 3);
  if (random.chance(0.3)) spec.sizeBytes = random.between(1, 1_000);
  if (random.chance(0.1)) addTimes(random, spec, now);
  if (random.chance(0.1)) addRare(random, spec);
  if (random.chance(0.1)) addDedupe(random, spec);
  return spec;
}

function addTimes(random: Random, spec: JobSpec, now: number): void {
  const delayMs = random.pick([0, 1, 50, 3_000, 60_000]);
  if (random.chance(0.7)) spec.delayMs = delayMs;
  else spec.runAt = now + delayMs;
  if (random.chance(0.4)) spec.ttlMs = random.pick([1, 1_000, 20_000, 120_000]);
}

function addRare(random: Random, spec: JobSpec): void {
  if (random.chance(0.3)) spec.maxWaitMs = random.pick([0, 500, 5_000]);
  if (random.chance(0.3)) spec.attempts = random.between(1, 3);
  if (random.chance(0.3)) spec.leaseMs = random.pick([500, 5_000]);
  if (random.chance(0.2)) spec.backoff = { minMs: 5, maxMs: 100, factor: 3, jitter: 0 };
  if (random.chance(0.3)) spec.ttlMs = random.pick([300, 10_000]);
}

function addDedupe(random: Random, spec: JobSpec): void {
  const mode = random.pick(MODES);
  const key = `key-${random.below(4)}`;
  spec.dedupe =
    mode === "window" ? { key, mode, windowMs: random.pick([100, 20_000]) } : { key, mode };
  if (mode !== "debounce") return;
  delete spec.runAt;
  spec.delayMs = random.pick([10, 1_000]);
}

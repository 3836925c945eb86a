// What one job of a world says.

import type { DedupeMode, JobSpec } from "@sluice/engine";
import type { Random } from "../random.ts";
import type { Plan, QueuePlan } from "./plan.ts";

const WEIGHTS = [1, 2, 3, 5, 10];
const DELAYS_MS = [1, 5, 20, 100, 700, 5_000];
const KEYS_PER_MODE = 2;

export function makeSpec(random: Random, plan: Plan, queue: QueuePlan, tag: number): JobSpec {
  const lane = random.below(plan.lanes.length);
  return {
    body: tag,
    priority: random.below(queue.tiers),
    fairnessKey: plan.lanes[lane],
    cost: random.between(1, plan.costMax),
    ...weight(random, plan, lane),
    ...gates(random, plan),
    ...(random.chance(plan.delayed) ? { delayMs: random.pick(DELAYS_MS) } : {}),
    ...(random.chance(plan.deadlines) ? { ttlMs: random.pick([3, 50, 500, 5_000]) } : {}),
    ...(random.chance(plan.maxWaits) ? { maxWaitMs: random.pick([0, 10, 500, 5_000]) } : {}),
    ...(random.chance(plan.dedupe) ? dedupe(random, plan.dedupeModes) : {}),
    ...(plan.sizes ? { sizeBytes: random.pick([0, 10, 60]) } : {}),
    ...(!plan.isExact && random.chance(0.05) ? { leaseMs: random.pick([50, 90_000]) } : {}),
    ...(random.chance(0.05) ? { attempts: random.between(1, 4) } : {}),
  };
}

function weight(random: Random, plan: Plan, lane: number): Pick<JobSpec, "weight"> {
  if (plan.weights === "none") return {};
  if (plan.weights === "fixed") return { weight: WEIGHTS[lane % WEIGHTS.length] };
  return { weight: random.pick(WEIGHTS) };
}

function gates(random: Random, plan: Plan): Pick<JobSpec, "gates"> {
  if (plan.gateKeys.length === 0 || !random.chance(plan.gatedShare)) return {};
  const named = Array.from({ length: random.between(1, plan.gatesPerJob) }, () =>
    random.pick(plan.gateKeys),
  );
  return { gates: [...new Set(named)] };
}

// A key always comes with the same mode: the rules do not say what a mixture means.
function dedupe(random: Random, modes: readonly DedupeMode[]): Pick<JobSpec, "dedupe" | "delayMs"> {
  const mode = random.pick(modes);
  const key = `${mode}-${random.below(KEYS_PER_MODE)}`;
  const windowMs = mode === "window" ? { windowMs: random.pick([50, 1_000]) } : {};
  const delayMs = mode === "debounce" ? { delayMs: random.pick([20, 300]) } : {};
  return { dedupe: { key, mode, ...windowMs }, ...delayMs };
}

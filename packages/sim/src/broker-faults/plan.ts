// What a world of faults is like: its queues, gates and keys, and the jobs that are added to it.
// All durations are multiples of one step, so that a real process can live through them too.

import type { DedupeMode, GateSettings, QueueOptions } from "@sluice/protocol";
import type { Random } from "../random.ts";
import { HUGE_FROM } from "./body.ts";
import type { JobNote } from "./record.ts";

export interface FaultPlan {
  readonly stepMs: number;
  readonly queues: readonly string[];
  readonly gates: readonly string[];
  readonly lanes: readonly string[];
  readonly stores: readonly string[];
  // Payloads of tens of kilobytes, so that chunks are filled and paged out.
  readonly hasHuge: boolean;
  // It lasts an hour, and its queues and gates have rarer options too.
  readonly isHour: boolean;
}

const DEDUPE_KEYS = 8;
// Gates of an hour, in which a minute brings a job for each: at their usual pace, whatever they
// count would be full, or gone, at each restart.
const SLOWER = [1, 60];
const MODES: readonly DedupeMode[] = ["pending", "window", "debounce", "replace", "keepLast"];

export function makeFaultPlan(random: Random, stepMs: number, isHour = false): FaultPlan {
  return {
    isHour,
    stepMs,
    queues: ["mail", "web", "bulk"].slice(0, random.between(1, 3)),
    gates: ["rate", "conc", "window", "spaced", "mixed"],
    lanes: ["", "a", "b", "c"],
    stores: ["one", "two"],
    hasHuge: random.chance(isHour ? 0.05 : 0.2),
  };
}

export function queueOptions(random: Random, { stepMs, isHour }: FaultPlan): QueueOptions {
  return {
    ...(isHour ? rareOptions(random, stepMs) : {}),
    tiers: 3,
    lease: 20 * stepMs,
    capacity: { jobs: random.pick([20, 100, 1000]), delayed: random.pick([20, 1000]) },
    onFull: random.pick(["reject", "drop", "spill", "wait"] as const),
    addTimeout: 5 * stepMs,
    fullRetry: stepMs,
    retry: { attempts: 3, min: stepMs, max: 4 * stepMs, jitter: 0 },
    ...(random.chance(0.2) ? { dlq: false as const } : {}),
    results: { jobs: random.pick([0, 3, 50]), ttl: random.pick([2, 1000]) * stepMs },
  };
}

function rareOptions(random: Random, stepMs: number): QueueOptions {
  const order = random.pick(["strict", "strict", "weighted", "promote"]);
  return {
    tierOrder: order === "weighted" ? [1, 2, 3].map(() => random.between(1, 5)) : "strict",
    promoteAfter: order === "promote" ? random.between(1, 60) * stepMs : null,
    weight: random.between(1, 3),
    fairness: random.chance(0.85),
  };
}

export function gateLimits(random: Random, gate: string, plan: FaultPlan): GateSettings {
  if (!plan.isHour) return plainGate(random, gate, plan);
  const slow = { ...plan, stepMs: plan.stepMs * random.pick(SLOWER) };
  const config = plainGate(random, gate, slow);
  const { stepMs } = plan;
  const ladder = random.chance(0.3) ? { ladder: [stepMs / 2, 2 * stepMs, 10 * stepMs] } : {};
  if (config.interval === undefined) return { ...config, ...ladder };
  const from = random.pick(["start", "end"] as const);
  const factors = random.chance(0.4) ? { factors: [0.1, 0.5, 1], floor: 30 } : {};
  return { interval: { every: config.interval.every, from, ...factors }, ...ladder };
}

function plainGate(random: Random, gate: string, { stepMs }: FaultPlan): GateSettings {
  const rate = { rate: random.pick([0.5, 1, 3]) * (1_000 / stepMs), burst: random.between(2, 5) };
  const windows = [{ limit: random.between(3, 8), per: random.between(2, 30) * stepMs }];
  switch (gate) {
    case "rate":
      return rate;
    case "conc":
      return { concurrency: random.between(1, 4) };
    case "window":
      return { windows };
    case "spaced":
      return { interval: { every: random.between(1, 5) * stepMs, from: "start" } };
    default:
      return { ...rate, windows, concurrency: random.between(2, 6) };
  }
}

export class JobMaker {
  readonly #random: Random;
  readonly #plan: FaultPlan;
  #numbers: number;
  #groups: number;

  constructor(random: Random, plan: FaultPlan, firstNumber: number) {
    this.#random = random;
    this.#plan = plan;
    this.#numbers = firstNumber;
    this.#groups = firstNumber;
  }

  get made(): number {
    return this.#numbers;
  }

  // The jobs of one call. `wall` is the time on the wall.
  batch(count: number, wall: number): JobNote[] {
    const random = this.#random;
    const isGroup = random.chance(0.15);
    const group = `group-${this.#groups}`;
    if (isGroup) this.#groups++;
    return Array.from({ length: count }, () => {
      const note = this.#note(wall);
      return isGroup ? { ...note, group } : note;
    });
  }

  #note(wall: number): JobNote {
    const random = this.#random;
    const number = this.#number();
    if (random.chance(0.25)) return this.#withKey(number);
    return {
      number,
      attempts: random.between(1, 4),
      ...this.#place(),
      ...this.#times(wall),
    };
  }

  #number(): number {
    const isHuge = this.#plan.hasHuge && this.#random.chance(0.3);
    return (isHuge ? HUGE_FROM : 0) + this.#numbers++;
  }

  #place(): Partial<JobNote> {
    const random = this.#random;
    const { lanes, gates } = this.#plan;
    return {
      fairnessKey: random.chance(0.2) ? ["org", random.pick(lanes)] : random.pick(lanes),
      priority: random.below(3),
      ...(random.chance(0.4) ? { gates: random.some(gates, 0.3) } : {}),
      ...(random.chance(0.2) ? { cost: 2 } : {}),
      ...(random.chance(0.1) ? { weight: random.between(1, 3) } : {}),
    };
  }

  #times(wall: number): Partial<JobNote> {
    const random = this.#random;
    const { stepMs } = this.#plan;
    const steps = (most: number): number => random.between(1, most) * stepMs;
    const when = random.weighted({ now: 12, delay: 3, runAt: 1, ttl: 1, deadline: 1, maxWait: 1 });
    if (when === "delay") return { delayMs: steps(10) };
    if (when === "runAt") return { runAt: wall + steps(10) };
    if (when === "ttl") return { ttlMs: steps(30) };
    if (when === "deadline") return { deadline: wall + steps(30) };
    return when === "maxWait" ? { maxWaitMs: steps(10) } : {};
  }

  // All jobs with one key are alike in everything but their body.
  #withKey(number: number): JobNote {
    const which = this.#random.below(DEDUPE_KEYS);
    const mode = MODES[which % MODES.length]!;
    const { stepMs } = this.#plan;
    const window = mode === "window" ? { windowMs: 20 * stepMs } : {};
    return {
      number,
      attempts: 3,
      fairnessKey: `keyed-${which}`,
      dedupe: { key: `key-${which}`, mode, ...window },
      ...(mode === "debounce" ? { delayMs: 4 * stepMs } : {}),
    };
  }
}

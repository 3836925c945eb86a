// Makes the calls of a world one by one, looking at the model to make them interesting.

import type { JobSpec, NackOptions } from "@sluice/engine";
import type { QueueChange } from "@sluice/engine/testing";
import type { Call, Op } from "../model/call.ts";
import type { ModelJob } from "../model/job.ts";
import type { Random } from "../random.ts";
import { BAD_NAMES } from "./bad.ts";
import { gateConfig } from "./gate-shape.ts";
import type { Plan, QueuePlan } from "./plan.ts";
import { makeSpec } from "./spec.ts";
import type { EngineWorld } from "./world.ts";

// More live jobs than this make a world slow and not richer.
const LIVE_MAX = 40;
const EXACT_STEP_MS_MAX = 100_000;
const DAY_MS = 86_400_000;
const WORKERS = ["w0", "w1"];

const STEPS = {
  none: 60,
  one: 8,
  wake: 14,
  beforeWake: 5,
  small: 10,
  medium: 6,
  big: 1,
  back: 1,
} as const;

export class Generator {
  readonly #random: Random;
  readonly #plan: Plan;
  readonly #world: EngineWorld;
  #tag = 0;

  constructor(random: Random, plan: Plan, world: EngineWorld) {
    this.#random = random;
    this.#plan = plan;
    this.#world = world;
  }

  // So many calls, each made when those before it have been; the first ones set the world up.
  *calls(count: number): Iterable<Call> {
    const { queues, gates, startAt: at } = this.#plan;
    for (const { name, options } of queues) yield { at, op: "setQueue", queue: name, options };
    for (const { name, config } of gates) yield { at, op: "setGate", gate: name, config };
    for (let left = count - queues.length - gates.length; left > 0; left--) yield this.#next();
  }

  #next(): Call {
    const random = this.#random;
    const overdue = this.#plan.isExact && this.#earliestDelay() <= this.#world.now;
    if (overdue) return { at: this.#world.now, op: random.pick(["tick", "dispatch"]) };
    const at = this.#time();
    const missing = this.#plan.queues.find(({ name }) => !this.#world.model.queues.has(name));
    if (missing !== undefined && random.chance(0.3)) {
      return { at, op: "setQueue", queue: missing.name, options: missing.options };
    }
    return MAKERS[this.#op()](this, at);
  }

  #op(): Op {
    const op = this.#random.weighted(this.#plan.ops);
    const isAdd = op === "add" || op === "addAll";
    if (!isAdd || this.#liveCount() < LIVE_MAX) return op;
    return this.#random.pick(["dispatch", "ack", "want", "cancel"] as const);
  }

  #liveCount(): number {
    let live = 0;
    for (const { waiting, delayed, leased } of this.#world.model.queues.values()) {
      live += waiting.size + delayed.size + leased.size;
    }
    return live;
  }

  // In exact worlds time stops at every delay, so that no two fall due in one tick, and never gets
  // as far as the end of a lease.
  #time(): number {
    const at = this.#anyTime();
    if (!this.#plan.isExact) return at;
    return Math.min(at, this.#world.now + EXACT_STEP_MS_MAX, this.#earliestDelay());
  }

  #anyTime(): number {
    const random = this.#random;
    const now = this.#world.now;
    const step = random.weighted(STEPS);
    if (step === "none") return now;
    if (step === "one") return now + 1;
    if (step === "small") return now + random.between(2, 30);
    if (step === "medium") return now + random.between(100, 2_000);
    if (step === "big") return now + random.between(10_000, 100_000);
    if (step === "back") return Math.max(0, now - random.between(1, 100));
    const wake = this.#world.nextWake();
    if (wake === Infinity || wake <= now) return now;
    return step === "wake" ? wake : wake - 1;
  }

  #earliestDelay(): number {
    let at = Infinity;
    for (const queue of this.#world.model.queues.values()) {
      for (const job of queue.delayed) at = Math.min(at, job.at);
    }
    return at;
  }

  // In exact worlds no two jobs fall due at the same time.
  #uniqueDelay(at: number, delayMs: number): number {
    if (!this.#plan.isExact) return delayMs;
    const taken = new Set<number>();
    for (const queue of this.#world.model.queues.values()) {
      for (const job of queue.delayed) taken.add(job.at);
    }
    let free = delayMs;
    while (taken.has(Math.max(at, this.#world.now) + free)) free += 1;
    return free;
  }

  queue(): QueuePlan {
    return this.#random.pick(this.#plan.queues);
  }

  // A queue of the plan, or one that was made for dead letters.
  anyQueue(): string {
    return this.#random.pick([...this.#world.model.queues.keys(), this.queue().name]);
  }

  worker(): string {
    return this.#random.pick(WORKERS);
  }

  gate(): string {
    const { gates, gateKeys } = this.#plan;
    return this.#random.pick([...gates.map(({ name }) => name), ...gateKeys]);
  }

  gateKey(): string {
    return this.#random.pick(this.#plan.gateKeys);
  }

  setGate(at: number): Call {
    const { name, shape } = this.#random.pick(this.#plan.gates);
    const config = gateConfig(this.#random, shape);
    const isShut = shape.hasRate && this.#random.chance(0.1);
    return { at, op: "setGate", gate: name, config: isShut ? { ...config, rate: 0 } : config };
  }

  spec(at: number, queue: QueuePlan): JobSpec {
    this.#tag += 1;
    const spec = makeSpec(this.#random, this.#plan, queue, this.#tag);
    if (spec.delayMs === undefined) return spec;
    return { ...spec, delayMs: this.#uniqueDelay(at, spec.delayMs) };
  }

  // Now and then jobs that are added together are a group.
  grouped(specs: readonly JobSpec[]): JobSpec[] {
    const group = `group-${this.#tag}`;
    const isGroup = this.#random.chance(0.2) && specs.every(({ dedupe }) => dedupe === undefined);
    return specs.map((spec) => (isGroup ? { ...spec, group } : spec));
  }

  nackOptions(at: number): NackOptions {
    const random = this.#random;
    const { isExact, gateKeys } = this.#plan;
    const kind = random.weighted({
      plain: 6,
      delay: 3,
      now: 2,
      cooldown: 3,
      final: 1,
      blameless: 1,
    });
    if (kind === "final") return { unrecoverable: true, error: "final" };
    if (kind === "now") return { delayMs: 0 };
    if (kind === "delay" || isExact)
      return { delayMs: this.#uniqueDelay(at, random.pick([1, 30, 900])) };
    if (kind === "blameless") return { blame: false, error: "not the gate's fault" };
    if (kind === "plain" || gateKeys.length === 0) return { error: "plain" };
    const cooldown = { gate: this.gateKey(), ms: random.pick([0, 10, 500, 3_000]), reason: "429" };
    return { cooldown };
  }

  // The tag of a leased job, or now and then of any job at all, or undefined.
  leasedTag(): number | undefined {
    if (this.#random.chance(0.06)) return this.anyTag();
    const leased: ModelJob[] = [];
    for (const queue of this.#world.model.queues.values()) leased.push(...queue.leased);
    if (leased.length === 0) return this.anyTag();
    return this.#world.tagOf(this.#random.pick(leased).id);
  }

  anyTag(): number | undefined {
    return this.#tag === 0 ? undefined : this.#random.between(1, this.#tag);
  }

  // Mostly the current lease.
  lease(): number {
    return this.#random.weighted({ "0": 30, "-1": 1, "1": 1 }) === "0"
      ? 0
      : this.#random.pick([-1, 1]);
  }

  extension(): number {
    return this.#plan.isExact ? DAY_MS : this.#random.between(1, 5_000);
  }

  slots(): number {
    return this.#random.pick([0, 1, 1, 1, 2, 3, 10]);
  }

  count(most: number): number {
    return this.#random.between(1, most);
  }

  chance(probability: number): boolean {
    return this.#random.chance(probability);
  }

  badName(): string {
    return this.#random.pick(BAD_NAMES);
  }

  // What may change about a queue in place.
  changed({ name, options }: QueuePlan): QueueChange {
    const random = this.#random;
    const paused = this.#world.model.queues.get(name)?.config.paused ?? false;
    const jobs = random.between(2, 20);
    return { ...options, paused, capacity: { ...options.capacity, jobs } };
  }

  key(): string {
    return `${this.#random.pick(this.#plan.dedupeModes)}-${this.#random.below(2)}`;
  }

  lane(): Plan["lanes"][number] {
    return this.#random.pick(this.#plan.lanes);
  }
}

type Maker = (g: Generator, at: number) => Call;

// A call about a job, or a tick while there is none.
const aboutJob =
  (make: (job: number, lease: number, g: Generator, at: number) => Call): Maker =>
  (g, at) => {
    const job = g.leasedTag();
    return job === undefined ? { at, op: "tick" } : make(job, g.lease(), g, at);
  };

const MAKERS: Readonly<Record<Op, Maker>> = {
  setQueue: (g, at) => {
    const queue = g.queue();
    return { at, op: "setQueue", queue: queue.name, options: g.changed(queue) };
  },
  deleteQueue: (g, at) =>
    g.chance(0.3) ? { at, op: "deleteQueue", queue: g.anyQueue() } : { at, op: "tick" },
  pause: (g, at) => ({ at, op: "pause", queue: g.anyQueue() }),
  resume: (g, at) => ({ at, op: "resume", queue: g.anyQueue() }),
  purge: (g, at) => ({ at, op: "purge", queue: g.anyQueue() }),
  setLaneWeight: (g, at) => ({
    at,
    op: "setLaneWeight",
    queue: g.queue().name,
    key: g.lane(),
    weight: g.count(10),
  }),
  setGate: (g, at) => g.setGate(at),
  deleteGate: (g, at) => ({ at, op: "deleteGate", gate: g.gate() }),
  cooldown: (g, at) => ({ at, op: "cooldown", gate: g.gateKey(), ms: g.count(3) ** 6 }),
  clearCooldown: (g, at) => ({ at, op: "clearCooldown", gate: g.gateKey() }),
  report: (g, at) => ({ at, op: "report", gate: g.gateKey(), ok: g.chance(0.5) }),
  add: (g, at) => {
    const queue = g.queue();
    return { at, op: "add", queue: queue.name, spec: g.spec(at, queue) };
  },
  addAll: (g, at) => {
    const queue = g.queue();
    const specs = g.grouped(Array.from({ length: g.count(5) }, () => g.spec(at, queue)));
    return { at, op: "addAll", queue: queue.name, specs };
  },
  want: (g, at) => ({ at, op: "want", queue: g.anyQueue(), worker: g.worker(), slots: g.slots() }),
  leaveWorker: (g, at) => ({ at, op: "leaveWorker", queue: g.anyQueue(), worker: g.worker() }),
  dispatch: (g, at) => ({ at, op: "dispatch", ...(g.chance(0.15) ? { max: g.count(3) } : {}) }),
  lease: (g, at) => ({ at, op: "lease", queue: g.anyQueue(), max: g.count(4) }),
  ack: aboutJob((job, lease, _, at) => ({ at, op: "ack", job, lease })),
  giveBack: aboutJob((job, lease, _, at) => ({ at, op: "giveBack", job, lease })),
  extend: aboutJob((job, lease, g, at) => ({ at, op: "extend", job, lease, ms: g.extension() })),
  nack: aboutJob((job, lease, g, at) => ({
    at,
    op: "nack",
    job,
    lease,
    options: g.nackOptions(at),
  })),
  cancel: (g, at) => {
    const job = g.chance(0.3) ? g.leasedTag() : g.anyTag();
    return job === undefined ? { at, op: "tick" } : { at, op: "cancel", job };
  },
  retry: (g, at) => {
    const job = g.anyTag();
    return job === undefined ? { at, op: "tick" } : { at, op: "retry", job };
  },
  cancelByKey: (g, at) => ({ at, op: "cancelByKey", queue: g.queue().name, key: g.key() }),
  redrive: (g, at) => ({
    at,
    op: "redrive",
    queue: g.anyQueue(),
    ...(g.chance(0.5) ? { count: g.count(3) } : {}),
  }),
  put: (g, at) => ({ at, op: "put", key: `k${g.count(3)}`, value: { n: g.count(100) } }),
  remove: (g, at) => ({ at, op: "remove", key: `k${g.count(3)}` }),
  bad: (g, at) => ({ at, op: "bad", name: g.badName(), queue: g.queue().name }),
  tick: (_, at) => ({ at, op: "tick" }),
};

// One world: the engine and the model side by side. Every call goes to the engine first; then the
// model judges what came back, and everything that can be asked is compared.

import type { AddResult, JobSpec, Refusal } from "@sluice/engine";
import { queueConfig } from "@sluice/engine/testing";
import { Broken, demand, equal } from "../demand.ts";
import { add } from "../model/add.ts";
import type { Call, CallOf, Op } from "../model/call.ts";
import { compare } from "../model/compare.ts";
import { adoptFollowUps } from "../model/follow-up.ts";
import * as govern from "../model/govern.ts";
import { judge } from "../model/judge.ts";
import { Model } from "../model/model.ts";
import { isRefused, type Outcome, outcomeOf } from "../model/outcome.ts";
import { judgeQuiet } from "../model/quiet.ts";
import * as settle from "../model/settle.ts";
import { Share } from "../model/share.ts";
import { tick } from "../model/tick.ts";
import { adoptTooLong, adoptTooLongSoFar, judgeTooLong } from "../model/waits.ts";
import { isBadRefused } from "./bad.ts";
import type { EnginePort } from "./port.ts";

const STORE = "config";
const SPREAD_TICKS_MAX = 5;
// A loop that runs for more rounds than this without time advancing never ends.
const ROUNDS_MAX = 2_000;

// The worker of `lease`.
const ONCE = "once";

export interface EngineWorldOptions {
  readonly isExact: boolean;
  readonly isOneGate: boolean;
}

export class EngineWorld {
  readonly engine: EnginePort;
  readonly model: Model;
  // Which job a tag means, and the latest tag of a job.
  readonly #ids = new Map<number, number>();
  readonly #tags = new Map<number, number>();
  readonly keys = new Set<string>();
  readonly stored = new Map<string, unknown>();
  leases = 0;

  constructor(engine: EnginePort, options: EngineWorldOptions) {
    this.engine = engine;
    const share = options.isOneGate ? new Share() : undefined;
    this.model = new Model(engine, { isExact: options.isExact, share });
  }

  get now(): number {
    return this.model.now;
  }

  nextWake(): number {
    return this.engine.nextWake(this.now);
  }

  apply(call: Call): void {
    this.model.call += 1;
    this.model.noteLines();
    this.model.idle.pass(this.now, call.at);
    this.model.moveTo(call.at);
    const handler = HANDLERS[call.op] as (world: EngineWorld, call: Call) => void;
    handler(this, call);
    // A job that would wait too long may have a follow-up, and that one may be such a job again.
    do {
      this.#adopt();
      adoptTooLong(this.model);
    } while (this.model.awaited.length > 0);
    compare(this.model, this.engine);
    this.#observeLine();
    const nextWake = this.nextWake();
    judgeQuiet(this.model, nextWake);
    this.model.idle.look(this.model, nextWake);
    if (nextWake > this.now) judgePatience(this.model, call);
  }

  // Dispatches until nothing is due any more.
  settle(at: number): void {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      dispatch(this, at, undefined);
      if (this.nextWake() > this.now) return;
    }
    throw new Broken("f: dispatch comes to rest", `nextWake stays at ${this.now}`);
  }

  // What fell due, and the jobs that the engine made of it.
  tick(): void {
    tick(this.model);
    this.#adopt();
    adoptTooLongSoFar(this.model);
  }

  idOf(tag: number): number | undefined {
    return this.#ids.get(tag);
  }

  tagOf(id: number): number | undefined {
    return this.#tags.get(id);
  }

  // A job keeps its first tag: a later one may become that of the job which follows it.
  name(tag: number, id: number): void {
    this.#ids.set(tag, id);
    if (!this.#tags.has(id)) this.#tags.set(id, tag);
  }

  #observeLine(): void {
    const { share, gates } = this.model;
    if (share === undefined) return;
    for (const { key } of gates.all()) {
      share.observe(this.engine.gateStats(key, this.now).waitingLanes);
    }
  }

  #adopt(): void {
    for (const { id, body } of adoptFollowUps(this.model)) this.name(body as number, id);
  }
}

type Handler<O extends Op> = (world: EngineWorld, call: CallOf<O>) => void;

// Made at the engine, and judged by the model.
const judged =
  <O extends Op, T>(
    make: (engine: EnginePort, call: CallOf<O>) => T,
    judgeBy: (model: Model, call: CallOf<O>, outcome: Outcome<T>) => void,
  ): Handler<O> =>
  ({ engine, model }, call) =>
    judgeBy(
      model,
      call,
      outcomeOf(() => make(engine, call)),
    );

const HANDLERS: { readonly [O in Op]: Handler<O> } = {
  setQueue: judged((engine, { queue, options, at }) => {
    engine.setQueue(queue, queueConfig(queue, options), at);
  }, govern.setQueue),
  deleteQueue: (world, call) => {
    const outcome = outcomeOf(() => world.engine.deleteQueue(call.queue, call.at));
    govern.deleteQueue(world.model, call, outcome);
    finishSpread(world, call.at);
    world.tick();
  },
  pause: judged((engine, { queue, at }) => engine.setPaused(queue, true, at), govern.setPaused),
  resume: judged((engine, { queue, at }) => engine.setPaused(queue, false, at), govern.setPaused),
  purge: (world, call) => {
    const outcome = outcomeOf(() => world.engine.purge(call.queue, call.at));
    finishSpread(world, call.at);
    govern.purge(world.model, call, outcome);
    world.tick();
  },
  setLaneWeight: judged((engine, { queue, key, weight, at }) => {
    engine.setLaneWeight(queue, key, weight, at);
  }, govern.setLaneWeight),
  setGate: (world, call) => {
    prepare(world, call.gate, call.at);
    const outcome = outcomeOf(() => world.engine.setGate(call.gate, call.config, call.at));
    govern.setGate(world.model, call, outcome);
    spread(world, call.gate, call.at);
    govern.adoptLevels(world.model);
  },
  deleteGate: (world, call) => {
    prepare(world, call.gate, call.at);
    const outcome = outcomeOf(() => world.engine.deleteGate(call.gate, call.at));
    govern.deleteGate(world.model, call, outcome);
    spread(world, call.gate, call.at);
  },
  cooldown: judged((engine, { gate, ms, at }) => {
    engine.cooldown(gate, ms, govern.REASON, at);
  }, govern.cooldown),
  clearCooldown: judged((engine, { gate, at }) => {
    engine.clearCooldown(gate, at);
  }, govern.clearCooldown),
  report: judged((engine, { gate, ok, at }) => engine.reportGate(gate, ok, at), govern.report),
  add: addOne,
  addAll: addMany,
  want: judged((engine, { queue, worker, slots, at }) => {
    engine.want(queue, worker, slots, at);
  }, govern.want),
  leaveWorker: (world, call) => HANDLERS.want(world, { ...call, op: "want", slots: 0 }),
  dispatch: (world, { max, at }) =>
    max === undefined ? world.settle(at) : dispatch(world, at, max),
  lease: pull,
  ack: (world, call) =>
    withJob(world, call, (id, lease) => {
      const outcome = outcomeOf(() => world.engine.ack(id, lease, call.at, call.job));
      settle.ack(world.model, id, lease, call.job, outcome);
    }),
  giveBack: (world, call) =>
    withJob(world, call, (id, lease) => {
      const outcome = outcomeOf(() => world.engine.giveBack(id, lease, call.at));
      settle.giveBack(world.model, id, lease, outcome);
    }),
  extend: (world, call) =>
    withJob(world, call, (id, lease) => {
      const outcome = outcomeOf(() => world.engine.extend(id, lease, call.ms, call.at));
      settle.extend(world.model, id, lease, call.ms, outcome);
    }),
  nack: (world, call) =>
    withJob(world, call, (id, lease) => {
      const outcome = outcomeOf(() => world.engine.nack(id, lease, call.at, call.options));
      settle.nack(world.model, id, lease, call.options, outcome);
    }),
  cancel: (world, { job, at }) => {
    const id = world.idOf(job);
    if (id === undefined) return;
    const outcome = outcomeOf(() => world.engine.cancel(id, at));
    settle.cancel(world.model, id, outcome);
  },
  cancelByKey: judged(
    (engine, { queue, key, at }) => engine.cancelByKey(queue, key, at),
    settle.cancelByKey,
  ),
  retry: (world, { job, at }) => {
    const id = world.idOf(job);
    if (id === undefined) return;
    const outcome = outcomeOf(() => world.engine.retry(id, at));
    govern.retry(world.model, id, outcome);
  },
  redrive: judged((engine, { queue, count, at }) => {
    return engine.redrive(queue, count === undefined ? {} : { count }, at);
  }, govern.redrive),
  put: (world, { key, value, at }) => {
    const outcome = outcomeOf(() => world.engine.storePut(STORE, key, value, at));
    isRefused(outcome, []);
    world.stored.set(key, value);
    compareStore(world);
  },
  remove: (world, { key, at }) => {
    const outcome = outcomeOf(() => world.engine.storeDelete(STORE, key, at));
    isRefused(outcome, []);
    world.stored.delete(key);
    compareStore(world);
  },
  bad: (world, { name, queue, at }) => isBadRefused(world.engine, name, queue, at),
  tick: (world, { at }) => {
    world.engine.tick(at);
    world.tick();
  },
};

// A pattern may cover any number of gates, so the engine spreads its change over ticks. What falls
// due in them is done before, so that it happens under the old limits for both.
function prepare(world: EngineWorld, gate: string, at: number): void {
  if (!gate.endsWith("*")) return;
  world.engine.tick(at);
  world.tick();
}

function spread(world: EngineWorld, gate: string, at: number): void {
  if (!gate.endsWith("*")) return;
  finishSpread(world, at);
  world.tick();
}

// What a call leaves over is done by the ticks that follow it. A job that could be dispatched keeps
// the engine awake as well, so there is an end to it.
function finishSpread({ engine, now }: EngineWorld, at: number): void {
  for (let round = 0; round < SPREAD_TICKS_MAX; round++) {
    engine.tick(at);
    if (engine.nextWake(now) > now) return;
  }
}

function addOne(world: EngineWorld, { queue, spec, at }: CallOf<"add">): void {
  const outcome = outcomeOf(() => world.engine.add(queue, spec, at));
  add(world.model, queue, spec, outcome);
  remember(world, spec, outcome);
}

function addMany(world: EngineWorld, { queue, specs, at }: CallOf<"addAll">): void {
  const all = outcomeOf(() => world.engine.addAll(queue, [...specs], at));
  if (isRefused(all, world.model.queues.has(queue) ? [] : ["QUEUE_NOT_FOUND"]) || !all.ok) return;
  equal("answer", "number of results", all.value.length, specs.length);
  specs.forEach((spec, index) => {
    const one = all.value[index]!;
    // By name: an engine with a planted bug brings its own class of refusals.
    const outcome: Outcome<AddResult> =
      (one as Refusal).name === "Refusal"
        ? { ok: false, code: (one as Refusal).code }
        : { ok: true, value: one as AddResult };
    add(world.model, queue, spec, outcome);
    remember(world, spec, outcome);
  });
}

function remember(world: EngineWorld, spec: JobSpec, outcome: Outcome<AddResult>): void {
  if (outcome.ok && outcome.value.id > 0) world.name(spec.body as number, outcome.value.id);
  if (spec.dedupe !== undefined) world.keys.add(spec.dedupe.key);
}

function dispatch(world: EngineWorld, at: number, max: number | undefined): void {
  const leases = world.engine.dispatch(at, max);
  world.tick();
  if (max !== undefined) {
    demand(leases.length <= max, "answer", () => `${leases.length} leases, at most ${max}`);
  }
  for (const lease of leases) judge(world.model, lease);
  world.leases += leases.length;
}

// A worker that comes for jobs once.
function pull(world: EngineWorld, { queue, max, at }: CallOf<"lease">): void {
  HANDLERS.want(world, { at, op: "want", queue, worker: ONCE, slots: max });
  dispatch(world, at, undefined);
  HANDLERS.leaveWorker(world, { at, op: "leaveWorker", queue, worker: ONCE });
}

function withJob(
  world: EngineWorld,
  call: { readonly job: number; readonly lease: number },
  use: (id: number, lease: number) => void,
): void {
  const id = world.idOf(call.job);
  if (id === undefined) return;
  const current = world.model.jobs.get(id)?.lease ?? 1;
  use(id, Math.max(1, current + call.lease));
}

function compareStore({ engine, stored }: EngineWorld): void {
  for (const [key, value] of stored) {
    const told = JSON.stringify(engine.storeGet(STORE, key));
    equal("store", `value of ${key}`, told, JSON.stringify(value));
  }
}

// The gates that a call changed: jobs that would now wait too long must be gone.
function judgePatience(model: Model, call: Call): void {
  if (call.op !== "setGate" && call.op !== "cooldown") return;
  for (const gate of model.gates.all()) {
    if (gate.key === call.gate || gate.pattern === call.gate) judgeTooLong(model, gate.key);
  }
}

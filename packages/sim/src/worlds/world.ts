// One world: the engine and the model side by side. Every call goes to the engine first; then the
// model judges what came back, and everything that can be asked is compared.

import type { AddResult, JobSpec, Refusal } from "@sluice/engine";
import { Broken, demand, equal } from "../demand.ts";
import { add } from "../model/add.ts";
import { compare } from "../model/compare.ts";
import { adoptFollowUps } from "../model/follow-up.ts";
import * as govern from "../model/govern.ts";
import { judge } from "../model/judge.ts";
import { Model } from "../model/model.ts";
import { isRefused, type Outcome, outcomeOf } from "../model/outcome.ts";
import { policyOf } from "../model/policy.ts";
import { judgeQuiet } from "../model/quiet.ts";
import * as settle from "../model/settle.ts";
import { Share } from "../model/share.ts";
import { tick } from "../model/tick.ts";
import { adoptTooLong, adoptTooLongSoFar, judgeTooLong } from "../model/waits.ts";
import { isBadRefused } from "./bad.ts";
import type { Call, CallOf, Op } from "./call.ts";
import type { EnginePort } from "./port.ts";

const STORE = "config";
const SPREAD_TICKS_MAX = 5;
// A loop that goes on beyond this many rounds without time moving never ends.
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

const HANDLERS: { readonly [O in Op]: Handler<O> } = {
  setQueue: ({ engine, model }, { queue, options, at }) =>
    govern.setQueue(
      model,
      queue,
      options,
      outcomeOf(() => engine.setQueue(queue, policyOf(queue, options), at)),
    ),
  deleteQueue: (world, { queue, at }) => {
    const outcome = outcomeOf(() => world.engine.deleteQueue(queue, at));
    govern.deleteQueue(world.model, queue, outcome);
    finishSpread(world, at);
    world.tick();
  },
  pause: ({ engine, model }, { queue, at }) =>
    govern.setPaused(
      model,
      queue,
      true,
      outcomeOf(() => engine.setPaused(queue, true, at)),
    ),
  resume: ({ engine, model }, { queue, at }) =>
    govern.setPaused(
      model,
      queue,
      false,
      outcomeOf(() => engine.setPaused(queue, false, at)),
    ),
  purge: (world, { queue, at }) => {
    const outcome = outcomeOf(() => world.engine.purge(queue, at));
    finishSpread(world, at);
    govern.purge(world.model, queue, outcome);
    world.tick();
  },
  setLaneWeight: ({ engine, model }, { queue, key, weight, at }) => {
    const outcome = outcomeOf(() => engine.setLaneWeight(queue, key, weight, at));
    govern.setLaneWeight(model, queue, typeof key === "string" ? [key] : key, weight, outcome);
  },
  setGate: (world, { gate, config, at }) => {
    prepare(world, gate, at);
    const outcome = outcomeOf(() => world.engine.setGate(gate, config, at));
    govern.setGate(world.model, gate, config, outcome);
    spread(world, gate, at);
    govern.adoptLevels(world.model);
  },
  deleteGate: (world, { gate, at }) => {
    prepare(world, gate, at);
    const outcome = outcomeOf(() => world.engine.deleteGate(gate, at));
    govern.deleteGate(world.model, gate, outcome);
    spread(world, gate, at);
  },
  cooldown: ({ engine, model }, { gate, ms, at }) =>
    govern.cooldown(
      model,
      gate,
      ms,
      "world",
      outcomeOf(() => engine.cooldown(gate, ms, "world", at)),
    ),
  clearCooldown: ({ engine, model }, { gate, at }) =>
    govern.clearCooldown(
      model,
      gate,
      outcomeOf(() => engine.clearCooldown(gate, at)),
    ),
  report: ({ engine, model }, { gate, ok, at }) =>
    govern.report(
      model,
      gate,
      ok,
      outcomeOf(() => engine.reportGate(gate, ok, at)),
    ),
  add: addOne,
  addAll: addMany,
  want: ({ engine, model }, { queue, worker, slots, at }) =>
    govern.want(
      model,
      queue,
      worker,
      slots,
      outcomeOf(() => engine.want(queue, worker, slots, at)),
    ),
  leaveWorker: ({ engine, model }, { queue, worker, at }) =>
    govern.want(
      model,
      queue,
      worker,
      0,
      outcomeOf(() => engine.want(queue, worker, 0, at)),
    ),
  dispatch: (world, { max, at }) =>
    max === undefined ? world.settle(at) : dispatch(world, at, max),
  lease: pull,
  ack: (world, call) =>
    withJob(world, call, (id, lease) => {
      const { engine, model } = world;
      settle.ack(
        model,
        id,
        lease,
        call.job,
        outcomeOf(() => engine.ack(id, lease, call.at, call.job)),
      );
    }),
  giveBack: (world, call) =>
    withJob(world, call, (id, lease) => {
      const { engine, model } = world;
      settle.giveBack(
        model,
        id,
        lease,
        outcomeOf(() => engine.giveBack(id, lease, call.at)),
      );
    }),
  extend: (world, call) =>
    withJob(world, call, (id, lease) => {
      const { engine, model } = world;
      const outcome = outcomeOf(() => engine.extend(id, lease, call.ms, call.at));
      settle.extend(model, id, lease, call.ms, outcome);
    }),
  nack: (world, call) =>
    withJob(world, call, (id, lease) => {
      const { engine, model } = world;
      const outcome = outcomeOf(() => engine.nack(id, lease, call.at, call.options));
      settle.nack(model, id, lease, call.options, outcome);
    }),
  cancel: (world, { job, at }) => {
    const id = world.idOf(job);
    if (id === undefined) return;
    settle.cancel(
      world.model,
      id,
      outcomeOf(() => world.engine.cancel(id, at)),
    );
  },
  cancelByKey: ({ engine, model }, { queue, key, at }) =>
    settle.cancelByKey(
      model,
      queue,
      key,
      outcomeOf(() => engine.cancelByKey(queue, key, at)),
    ),
  retry: (world, { job, at }) => {
    const id = world.idOf(job);
    if (id === undefined) return;
    govern.retry(
      world.model,
      id,
      outcomeOf(() => world.engine.retry(id, at)),
    );
  },
  redrive: ({ engine, model }, { queue, count, at }) => {
    const filter = count === undefined ? {} : { count };
    govern.redrive(
      model,
      queue,
      count,
      outcomeOf(() => engine.redrive(queue, filter, at)),
    );
  },
  put: (world, { key, value, at }) => {
    isRefused(
      outcomeOf(() => world.engine.storePut(STORE, key, value, at)),
      [],
    );
    world.stored.set(key, value);
    compareStore(world);
  },
  remove: (world, { key, at }) => {
    isRefused(
      outcomeOf(() => world.engine.storeDelete(STORE, key, at)),
      [],
    );
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
    equal(
      "store",
      `value of ${key}`,
      JSON.stringify(engine.storeGet(STORE, key)),
      JSON.stringify(value),
    );
  }
}

// The gates that a call changed: jobs that would now wait too long must be gone.
function judgePatience(model: Model, call: Call): void {
  if (call.op !== "setGate" && call.op !== "cooldown") return;
  for (const gate of model.gates.all()) {
    if (gate.key === call.gate || gate.pattern === call.gate) judgeTooLong(model, gate.key);
  }
}

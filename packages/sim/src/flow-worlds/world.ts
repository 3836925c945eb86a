// Random flows on a real engine, which is rebuilt from its facts now and then, beside the model.

import {
  type AddResult,
  type Fact,
  type JobRecord,
  type Lease,
  type OnDependencyFailure,
  Engine as RealEngine,
  type Refusal,
} from "@sluice/engine";
import { queueConfig } from "@sluice/engine/testing";
import { letterQueueConfig } from "@sluice/protocol";
import { Random } from "../random.ts";
import type { WorldEnd } from "../world-end.ts";
import { Book } from "./book.ts";

export type EngineModule = { readonly Engine: typeof RealEngine };

const MOVES = 150;
const QUEUES = ["a", "b"] as const;
const STEPS_MAX = 5000;

interface Edge {
  readonly id: number;
  readonly on: OnDependencyFailure;
}

class Broken extends Error {}

export function runFlowWorld(
  seed: number,
  { Engine }: EngineModule = { Engine: RealEngine },
): WorldEnd {
  const world = new FlowWorld(seed, Engine);
  try {
    for (let i = 0; i < MOVES; i++) world.move();
    return { failure: undefined, counts: world.counts };
  } catch (error) {
    const failure = error instanceof Broken ? error.message : String((error as Error).stack);
    return { failure, counts: world.counts };
  }
}

class FlowWorld {
  readonly counts = { adds: 0, ends: 0, restarts: 0, "blocked at most": 0 };
  readonly #random: Random;
  readonly #Engine: typeof RealEngine;
  readonly #book = new Book();
  readonly #held = new Map<number, Lease>();
  #facts: Fact[] = [];
  #engine: RealEngine;
  #now = 1000;

  constructor(seed: number, Engine: typeof RealEngine) {
    this.#random = new Random(seed);
    this.#Engine = Engine;
    this.#engine = this.#open();
    for (const name of QUEUES) {
      const config = queueConfig(name, { results: { jobs: 2 }, leaseMs: 86_400_000 });
      this.#engine.setQueue(name, config, this.#now);
    }
  }

  #open(): RealEngine {
    const letterQueue = (name: string) => letterQueueConfig(name);
    return new this.#Engine({ letterQueue, facts: this.#facts });
  }

  move(): void {
    const kind = this.#random.weighted({ add: 5, flow: 2, take: 6, end: 8, retry: 1, restart: 1 });
    this[kind]();
    this.#settle();
    const wrong = this.#book.judge((id) => this.#engine.queries.job(id)?.state);
    if (wrong !== undefined) throw new Broken(wrong);
    const blocked = QUEUES.map((name) => this.#engine.queries.queueStats(name).blocked);
    const most = Math.max(this.counts["blocked at most"], blocked[0]! + blocked[1]!);
    this.counts["blocked at most"] = most;
  }

  // A refusal changes nothing: a job to wait for may be forgotten.
  #try<T>(call: () => T): T | undefined {
    try {
      return call();
    } catch (error) {
      if ((error as Refusal).name !== "Refusal") throw error;
      return undefined;
    }
  }

  #edges(most: number): Edge[] {
    const known = [...this.#book.jobs.keys()].slice(-12);
    const chosen = this.#random.some(known, 0.25).slice(0, most);
    return chosen.map((id) => ({ id, on: this.#random.pick(["fail", "fail", "run", "wait"]) }));
  }

  add(): void {
    const dependencies = this.#edges(4);
    const queue = this.#random.pick(QUEUES);
    const added = this.#try(() => this.#engine.add(queue, { dependencies }, this.#now));
    if (added !== undefined) this.#note(added, true, dependencies);
  }

  #note(added: AddResult, isSealed: boolean, after: readonly Edge[]): void {
    this.counts.adds++;
    this.#book.add(added.id, isSealed, after);
  }

  // Filled in two calls, with a restart between them at times; sealed, or cancelled.
  flow(): void {
    const { flows } = this.#engine;
    const flow = flows.open(this.#now);
    const ids: number[] = [];
    for (let part = 0; part < 2; part++) {
      for (let i = this.#random.between(1, 4); i > 0; i--) {
        const after = this.#edges(3);
        const own = this.#random.some(ids, 0.4).map((id) => ({ id, on: "fail" as const }));
        const dependencies = [...after.filter(({ id }) => !ids.includes(id)), ...own];
        const job = { queue: this.#random.pick(QUEUES), spec: { dependencies } };
        const [added] = this.#try(() => this.#engine.flows.add(flow, [job], ids, this.#now)) ?? [];
        if (added !== undefined) this.#note(added, false, dependencies);
      }
      this.#settle();
      if (this.#random.chance(0.2)) this.restart();
    }
    const isSealed = this.#random.chance(0.8);
    if (isSealed) this.#engine.flows.seal(flow, this.#now);
    else this.#engine.flows.cancel(flow, this.#now);
    this.#book.close(ids, isSealed);
  }

  take(): void {
    for (const queue of QUEUES) {
      this.#engine.want(queue, "w", 2, this.#now);
      for (const lease of this.#engine.dispatch(this.#now, 2)) this.#taken(lease);
      this.#engine.want(queue, "w", 0, this.#now);
    }
  }

  #taken(lease: Lease): void {
    const job = this.#book.jobs.get(lease.id)!;
    if (job.isBlocked) throw new Broken(`job ${job.id} runs before what it waits for`);
    if (job.end !== undefined) throw new Broken(`job ${job.id} runs, though it is ${job.end}`);
    this.#held.set(lease.id, lease);
    if (job.enters.length === 0) return;
    const { items } = this.#engine.queries.dependencies(job.id, 100, 0);
    for (const [i, { from }] of job.enters.entries()) {
      const isRead = from.end !== "finished" || (items[i]?.result as number) === from.id;
      if (!isRead) throw new Broken(`job ${job.id} cannot read the result of ${from.id}`);
    }
  }

  end(): void {
    const lease = this.#random.pick([...this.#held.values(), undefined]);
    if (lease === undefined) return;
    const { id, lease: number } = lease;
    this.#held.delete(id);
    this.counts.ends++;
    const how = this.#random.weighted({ finished: 6, dead: 1, cancelled: 1 });
    // Every other result is kept as a body of its own.
    const aside = id % 2 === 1 ? { sizeBytes: 1, body: id } : undefined;
    if (how === "finished") this.#engine.ack(id, number, this.#now, id, aside);
    else if (how === "cancelled") this.#engine.cancel(id, this.#now);
    else this.#engine.nack(id, number, this.#now, { unrecoverable: true });
    this.#book.end(id, how);
  }

  retry(): void {
    const dead = [...this.#book.jobs.values()].filter(({ end }) => end === "dead");
    if (dead.length === 0) return;
    const { id } = this.#random.pick(dead);
    this.#engine.retry(id, this.#now);
    this.#book.retried(id);
  }

  // Another engine continues from the facts: either the whole history or a snapshot.
  restart(): void {
    this.counts.restarts++;
    const told = this.#random.chance(0.5) ? [...this.#facts] : this.#snapshot();
    this.#facts = [];
    this.#engine = this.#open();
    for (const fact of told) this.#engine.apply(fact);
    this.#engine.endReplay();
    this.#facts.push(...told);
  }

  #snapshot(): Fact[] {
    const rest = [...this.#engine.checkpoint()].flat();
    const at = this.#now;
    const jobs = [...this.#book.jobs.keys()].map((id) => this.#engine.queries.record(id));
    const moved = jobs.filter((job) => job !== undefined);
    const told = moved.flatMap((job): Fact[] => {
      const results = this.#results(job);
      const again: Fact = { at, fact: "moved", job };
      if (results.length === 0 || this.#random.chance(0.5)) return [again, ...results];
      // As a log has them that was cut before the end of the job.
      const { id, queue } = job;
      const end: Fact = { at, fact: "ended", id, queue, ending: "finished", blame: [] };
      return [...results, end, again];
    });
    return [...rest, ...told, ...rest];
  }

  // The result of a job that is kept as a body.
  #results(job: JobRecord): Fact[] {
    const of = { at: this.#now, id: job.id };
    return (job.extra?.steps?.steps ?? []).flatMap((step): Fact[] => {
      const { name, occurrence, kind, sizeBytes } = step;
      const fact = { ...of, fact: "step" as const, name, occurrence, kind, sizeBytes };
      const body = this.#engine.steps.body(fact);
      return body === undefined ? [] : [{ ...fact, body }];
    });
  }

  // Lets all that is under way come to its end, each call within its bounds.
  #settle(): void {
    for (let i = 0; this.#engine.nextWake(this.#now) <= this.#now; i++) {
      if (i === 1000) throw new Broken("nextWake promises work that is not done");
      const before = this.#engine.queries.steps;
      this.#engine.tick(this.#now);
      const steps = this.#engine.queries.steps - before;
      if (steps > STEPS_MAX) throw new Broken(`${steps} steps in one call`);
    }
    this.#now++;
  }
}

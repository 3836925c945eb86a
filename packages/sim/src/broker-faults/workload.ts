// Producers, workers and managers at one broker: each step is one of them doing something at
// random.

import type { Consumer, Nack } from "@sluice/protocol";
import type { Random } from "../random.ts";
import { type FaultPlan, gateLimits, type JobMaker, queueOptions } from "./plan.ts";
import { type Delivered, OWN_WORKER, type PortCall } from "./record.ts";
import type { Recorder } from "./recorder.ts";

// State that outlives a broker: workers remember the jobs they hold, producers the jobs they added.
export interface Memory {
  readonly held: Delivered[];
  readonly ids: string[];
}

const HELD_MAX = 60;
const IDS_MAX = 200;

export interface WorkloadParts {
  readonly random: Random;
  readonly plan: FaultPlan;
  readonly jobs: JobMaker;
  readonly memory: Memory;
  readonly recorder: Recorder;
  readonly wall: () => number;
}

export class Workload {
  readonly #of: WorkloadParts;
  readonly #consumers: Consumer[] = [];
  // No one comes back any more: workers take everything and finish it.
  isDraining = false;
  #names = 0;

  constructor(parts: WorkloadParts) {
    this.#of = parts;
    parts.recorder.onJobs = (jobs) => this.#take(jobs);
  }

  // A new place, or an old one with other limits.
  async open(): Promise<void> {
    const { random, plan } = this.#of;
    for (const queue of plan.queues) {
      await this.#call({ call: "setQueue", queue, options: queueOptions(random, plan) });
    }
    for (const gate of plan.gates) {
      await this.#call({ call: "setGate", gate, config: gateLimits(random, gate, plan) });
    }
  }

  step(): void {
    const act = this.#of.random.weighted({
      add: 20,
      ack: 16,
      consume: 4,
      credits: 10,
      poll: 6,
      fail: 6,
      extend: 3,
      giveBack: 2,
      stop: 1,
      cancel: 2,
      retry: 2,
      store: 5,
      manage: 2,
    });
    this.#act(act);
  }

  #act(act: string): void {
    if (act === "add") this.#add();
    else if (act === "ack") this.#ack();
    else if (act === "consume") void this.consume(this.#queue());
    else if (act === "credits") this.#credit();
    else if (act === "poll") this.#poll();
    else if (act === "fail") this.#fail();
    else if (act === "extend") this.#extend();
    else if (act === "giveBack") this.#giveBack();
    else if (act === "stop") void this.#consumers.shift()?.stop();
    else if (act === "cancel") this.#cancel();
    else if (act === "retry") this.#retry();
    else if (act === "store") this.#store();
    else this.#manage();
  }

  async consume(queue: string, credits = this.#of.random.between(1, 12)): Promise<void> {
    const { random, plan, recorder } = this.#of;
    const leaseMs = random.between(4, 30) * plan.stepMs;
    const kind = random.chance(0.5) ? OWN_WORKER : "w";
    const consumer = await recorder.consume(queue, `${kind}${this.#names++}`, credits, leaseMs);
    if (consumer !== undefined) this.#consumers.push(consumer);
  }

  // Everybody gives what he has, and takes more.
  drain(): void {
    const { memory } = this.#of;
    const held = memory.held.splice(0);
    if (held.length === 0) return;
    void this.#call({ call: "ack", leases: held.map(({ lease }) => lease) });
    for (const consumer of this.#consumers) consumer.addCredits(held.length);
  }

  // Jobs that need a place, and jobs that need a place and another gate.
  async crowd(): Promise<void> {
    const { random, plan, jobs, wall } = this.#of;
    for (const gate of plan.gates) {
      const config = gate === "conc" ? { concurrency: 2 } : gateLimits(random, gate, plan);
      await this.#call({ call: "setGate", gate, config });
    }
    for (const queue of plan.queues) {
      const notes = jobs.batch(12, wall()).map(({ number, fairnessKey = "" }, i) => {
        const other = plan.gates[i % plan.gates.length]!;
        const gates = i % 2 === 0 ? ["conc"] : ["conc", other];
        return { number, fairnessKey, gates, attempts: 3 };
      });
      void this.#call({ call: "add", queue, jobs: notes });
    }
  }

  // The worker that has waited longest finishes its job and takes another.
  finishOne(): void {
    const first = this.#of.memory.held.shift();
    if (first !== undefined) void this.#call({ call: "ack", leases: [first.lease] });
    for (const consumer of this.#consumers) consumer.addCredits(1);
  }

  // The worker of this job does not answer. Another worker may do so some time later.
  leave(job: Delivered): void {
    this.#take([job]);
  }

  #take(jobs: readonly Delivered[]): void {
    const { held, ids } = this.#of.memory;
    for (const job of jobs) {
      held.push(job);
      ids.push(job.id);
    }
    // Some workers die with what they hold.
    if (held.length > HELD_MAX && !this.isDraining) held.splice(0, held.length - HELD_MAX);
    if (ids.length > IDS_MAX) ids.splice(0, ids.length - IDS_MAX);
  }

  #call(call: PortCall): Promise<unknown> {
    return this.#of.recorder.call(call);
  }

  #queue(): string {
    return this.#of.random.pick(this.#of.plan.queues);
  }

  #add(): void {
    const { random, jobs, memory, recorder, wall } = this.#of;
    const count = random.chance(0.6) ? 1 : random.between(2, 12);
    const call: PortCall = { call: "add", queue: this.#queue(), jobs: jobs.batch(count, wall()) };
    void recorder.call(call).then((items) => {
      if (typeof items === "string") return;
      for (const item of items) {
        const id = "ok" in item ? (item.ok as { id: string }).id : "";
        if (id !== "") memory.ids.push(id);
      }
    });
  }

  #some(most: number): Delivered[] {
    const { random, memory } = this.#of;
    const some: Delivered[] = [];
    for (let left = random.between(1, most); left > 0 && memory.held.length > 0; left--) {
      some.push(...memory.held.splice(random.below(memory.held.length), 1));
    }
    return some;
  }

  #ack(): void {
    const leases = this.#some(8).map(({ lease }) => lease);
    if (leases.length > 0) void this.#call({ call: "ack", leases });
    this.#credit(leases.length);
  }

  #credit(count = this.#of.random.between(1, 4)): void {
    if (this.#consumers.length > 0) this.#of.random.pick(this.#consumers).addCredits(count);
  }

  #poll(): void {
    const { random, plan } = this.#of;
    const wait = random.chance(0.5) ? 0 : random.between(1, 5) * plan.stepMs;
    const lease = random.between(4, 30) * plan.stepMs;
    const worker = `p${this.#names++}`;
    const max = random.between(1, 6);
    void this.#call({ call: "poll", queue: this.#queue(), worker, max, wait, lease });
  }

  #fail(): void {
    const { random, plan } = this.#of;
    const items = this.#some(3).map(({ lease }): Nack => {
      const how = random.weighted({ plain: 5, delay: 2, cooldown: 1, final: 1 });
      const ms = random.between(1, 6) * plan.stepMs;
      if (how === "delay") return { lease, delayMs: ms };
      if (how === "final") return { lease, error: "no", unrecoverable: true };
      if (how === "plain") return { lease, error: "it failed" };
      return { lease, cooldown: { gate: random.pick(plan.gates), ms } };
    });
    if (items.length > 0) void this.#call({ call: "nack", items });
  }

  #extend(): void {
    const { random, plan, memory } = this.#of;
    if (memory.held.length === 0) return;
    const { lease } = random.pick(memory.held);
    const leaseMs = random.between(2, 40) * plan.stepMs;
    void this.#call({ call: "extend", items: [{ lease, leaseMs }] });
  }

  #giveBack(): void {
    const leases = this.#some(3).map(({ lease }) => lease);
    if (leases.length > 0) void this.#call({ call: "giveBack", leases });
  }

  #id(): string | undefined {
    const { random, memory } = this.#of;
    return memory.ids.length === 0 ? undefined : random.pick(memory.ids);
  }

  #cancel(): void {
    const { random, plan } = this.#of;
    const id = this.#id();
    if (id !== undefined && random.chance(0.8)) void this.#call({ call: "cancel", ids: [id] });
    else if (random.chance(0.5)) {
      const keys = [`key-${random.below(plan.lanes.length)}`];
      void this.#call({ call: "cancelByKey", queue: this.#queue(), keys });
    }
  }

  #retry(): void {
    const id = this.#id();
    if (id !== undefined) void this.#call({ call: "retry", ids: [id] });
  }

  #store(): void {
    const { random, plan } = this.#of;
    const entries = Array.from({ length: random.between(1, 5) }, () => ({
      key: `k${random.below(12)}`,
      value: random.chance(0.2) ? undefined : this.#value(),
    }));
    void this.#call({ call: "storeWrite", store: random.pick(plan.stores), entries });
  }

  // Large ones let a write go over the end of a chunk.
  #value(): unknown {
    const { random, plan } = this.#of;
    const n = random.below(1_000_000);
    return plan.hasHuge && random.chance(0.2)
      ? { n, text: "x".repeat(random.below(60_000)) }
      : { n };
  }

  #manage(): void {
    const { random, plan } = this.#of;
    const queue = this.#queue();
    const gate = random.pick(plan.gates);
    const act = random.weighted({
      gate: 5,
      cool: 4,
      clear: 2,
      open: 1,
      redrive: 4,
      purge: 1,
      delete: 1,
    });
    if (act === "gate") {
      void this.#call({ call: "setGate", gate, config: gateLimits(random, gate, plan) });
    } else if (act === "cool") {
      const ms = random.between(1, 10) * plan.stepMs;
      void this.#call({ call: "cooldown", gate, ms });
    } else if (act === "clear") void this.#call({ call: "clearCooldown", gate });
    else if (act === "open") void this.#call({ call: "deleteGate", gate });
    else if (act === "redrive") void this.#call({ call: "redrive", queue: `${queue}.dlq` });
    else if (act === "purge") void this.#call({ call: "purge", queue });
    else {
      void this.#call({ call: "deleteQueue", queue });
      void this.#call({ call: "setQueue", queue, options: queueOptions(random, plan) });
    }
  }
}

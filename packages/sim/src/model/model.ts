// The whole state of the model, and the few moves that everything else is made of.
//
// The model is slow and obvious: jobs are objects in sets, gates are lists, and what is asked is
// searched for. It does not foretell which job is dispatched (except in exact worlds); it judges
// what the engine did. Where the rules leave a choice, it looks at what the engine chose through
// its `Eyes`, checks that the choice is one of those allowed, and follows.

import type { Ending, GateStats, JobView, QueueConfig } from "@sluice/engine";
import type { Lack, ModelGate } from "./gate.ts";
import { Gates } from "./gates.ts";
import { Idle } from "./idle.ts";
import { type ModelJob, strandOf } from "./job.ts";
import { ModelQueue } from "./queue.ts";
import type { Share } from "./share.ts";

export interface Eyes {
  job(id: number): JobView | undefined;
  queueConfig(name: string): QueueConfig;
  gateStats(key: string, now: number): GateStats;
}

export class Model {
  now = 0;
  // The number of the call that is being judged.
  call = 0;
  readonly queues = new Map<string, ModelQueue>();
  // Live jobs and kept ones.
  readonly jobs = new Map<number, ModelJob>();
  readonly issued = new Set<number>();
  lastId = 0;
  readonly gates = new Gates();
  readonly eyes: Eyes;
  readonly isExact: boolean;
  // Until the gate is taken away.
  share: Share | undefined;
  // Jobs that wait for a follow-up to appear, because the engine names it; with its age, if it
  // entered in no particular order.
  readonly awaited: { queue: string; job: ModelJob; age?: number | undefined }[] = [];
  // The members of each group, with the way they ended first.
  readonly groups = new Map<string, Map<number, Ending | undefined>>();
  readonly idle = new Idle();
  #entries = 0;

  constructor(eyes: Eyes, options: { isExact: boolean; share?: Share | undefined }) {
    this.eyes = eyes;
    this.isExact = options.isExact;
    this.share = options.share;
  }

  // Time never goes back: a smaller `now` is taken as the largest one seen.
  moveTo(at: number): number {
    this.now = Math.max(this.now, at);
    return this.now;
  }

  queueOf(job: ModelJob): ModelQueue {
    return this.queues.get(job.queue)!;
  }

  makeQueue(name: string, config: QueueConfig): ModelQueue {
    const queue = new ModelQueue(name, config, this.isExact);
    this.queues.set(name, queue);
    return queue;
  }

  nextAge(): number {
    this.#entries += 1;
    return this.#entries;
  }

  // Into its strand: at the back with a new age, or where its old age puts it.
  wait(job: ModelJob, age = this.nextAge()): void {
    const queue = this.queueOf(job);
    job.state = "waiting";
    job.age = age;
    job.since = this.now;
    job.strand = strandOf(job);
    queue.waiting.add(job);
    queue.order?.enter(job);
    this.share?.entered(job);
    job.weight = undefined;
  }

  delay(job: ModelJob, at: number): void {
    job.state = "delayed";
    job.at = at;
    this.queueOf(job).delayed.add(job);
  }

  lease(job: ModelJob, worker: string, expiresAt: number): void {
    const queue = this.queueOf(job);
    queue.waiting.delete(job);
    queue.order?.serve(job);
    const isScarce = this.share === undefined || this.#isScarce(job);
    for (const key of job.gates) this.gates.get(key).take(job.id, job.cost, this.now);
    job.state = "leased";
    job.lease += 1;
    job.worker = worker;
    job.at = expiresAt;
    queue.leased.add(job);
    queue.counts.dispatched += 1;
    this.share?.served(job, isScarce);
    this.idle.served(job);
  }

  // Whether a job's gate lacks permits for all that waits there: only then does its line decide.
  #isScarce(job: ModelJob): boolean {
    const [key] = job.gates;
    if (key === undefined) return false;
    const gate = this.gates.get(key);
    const { config } = gate;
    if (config === undefined) return false;
    let wanted = job.state === "waiting" ? 0 : job.cost;
    for (const { waiting } of this.queues.values()) {
      for (const other of waiting) if (other.gates.includes(gate.key)) wanted += other.cost;
    }
    const room = (config.concurrency ?? Infinity) - gate.holders.size;
    if (config.interval !== undefined || room < wanted) return true;
    if ((gate.tokens(this.now) ?? Infinity) < wanted) return true;
    return (config.windows ?? []).some(
      ({ limit, perMs }) => limit - gate.used(perMs, this.now) < wanted,
    );
  }

  // Out of whatever state it is in; its permits are released.
  take(job: ModelJob): void {
    const queue = this.queueOf(job);
    if (queue.waiting.delete(job)) {
      queue.order?.leave(job);
      this.share?.left(job);
    }
    queue.delayed.delete(job);
    if (!queue.leased.delete(job)) return;
    for (const key of job.gates) this.gates.get(key).release(job.id, this.now);
  }

  end(job: ModelJob, ending: Ending): void {
    const queue = this.queueOf(job);
    this.take(job);
    this.endMember(job, ending);
    if (ending === "finished") this.freeKey(job);
    else this.giveUpKey(job);
    job.state = "ended";
    job.ending = ending;
    job.at = this.now;
    job.endedIn = this.call;
    queue.kept.push(job);
    while (queue.kept.length > queue.config.results.jobs) this.forget(this.#oldestKept(queue));
    if (job.followUp !== undefined) this.awaited.push({ queue: queue.name, job });
  }

  // The rules do not order jobs that ended in the same call: the one that is gone was the oldest.
  #oldestKept(queue: ModelQueue): ModelJob {
    const oldest = queue.kept.filter((job) => job.endedIn === queue.kept[0]!.endedIn);
    return oldest.find((job) => this.eyes.job(job.id) === undefined) ?? oldest[0]!;
  }

  forget(job: ModelJob): void {
    const queue = this.queueOf(job);
    this.take(job);
    const at = queue.kept.indexOf(job);
    if (at >= 0) queue.kept.splice(at, 1);
    this.jobs.delete(job.id);
  }

  // What becomes of a member after its end does not concern the group.
  endMember(job: ModelJob, ending: Ending): void {
    const members = job.group === undefined ? undefined : this.groups.get(job.group);
    if (members?.has(job.id) && members.get(job.id) === undefined) members.set(job.id, ending);
  }

  // A job that has finished frees its key, but a window must pass.
  freeKey(job: ModelJob): void {
    const holder = this.queueOf(job).keys.get(job.dedupe ?? "");
    if (holder?.until === undefined) this.giveUpKey(job);
  }

  // Work that was not done may be asked for again at once.
  giveUpKey(job: ModelJob): void {
    const { keys } = this.queueOf(job);
    if (job.dedupe !== undefined && keys.get(job.dedupe)?.id === job.id) keys.delete(job.dedupe);
  }

  // The oldest waiting job of every strand; several, one of which is the head, where the rules
  // leave open in which order they entered.
  heads(queue: ModelQueue): ModelJob[][] {
    const heads = new Map<string, ModelJob[]>();
    for (const job of queue.waiting) {
      const oldest = heads.get(job.strand);
      if (oldest === undefined || job.age < oldest[0]!.age) heads.set(job.strand, [job]);
      else if (job.age === oldest[0]!.age) oldest.push(job);
    }
    return [...heads.values()];
  }

  // When every timed part of its gates lets the job pass, and whether it needs a release besides.
  lack(job: ModelJob): Lack {
    return this.#atAll(job, (gate) => gate.lack(job.cost, job.tier, this.now));
  }

  // The same as a job's maxWait sees it.
  patience(job: ModelJob): Lack {
    return this.#atAll(job, (gate) => gate.patience(job.cost, job.tier, this.now));
  }

  #atAll(job: ModelJob, of: (gate: ModelGate) => Lack): Lack {
    let { at, atLeast, release } = { at: this.now, atLeast: this.now, release: false };
    for (const key of job.gates) {
      const lack = of(this.gates.get(key));
      at = Math.max(at, lack.at);
      atLeast = Math.max(atLeast, lack.atLeast);
      release ||= lack.release;
    }
    return { at, atLeast, release };
  }

  passes(job: ModelJob): boolean {
    const { at, release } = this.lack(job);
    return at <= this.now && !release;
  }

  // Notes the gates that have limits and waiting jobs. Their lines may outlast the limits.
  noteLines(): void {
    const named = new Set<string>();
    for (const queue of this.queues.values()) {
      for (const job of queue.waiting) for (const key of job.gates) named.add(key);
    }
    for (const gate of this.gates.all()) {
      const isNamed = named.has(gate.key);
      gate.mayHaveLine = isNamed && (gate.mayHaveLine || !gate.isOpenForAll(this.now));
    }
  }

  // The gates of the job that can keep anybody out.
  limits(job: ModelJob): readonly string[] {
    return job.gates.filter((key) => !this.gates.get(key).isOpenForAll(this.now));
  }
}

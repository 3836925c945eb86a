// All that the harness knows about queues, jobs and gates, kept from the facts alone and never from
// the engine's state. `read-fact.ts` says what each fact means and what it must not say; here are
// the moves between the states.

import type { Ending } from "@sluice/engine";
import { demand } from "../model/broken.ts";
import { GateBooks } from "./gate-books.ts";
import { KeyBook } from "./key-book.ts";
import type { LedgerJob } from "./ledger-job.ts";
import { QueueBook } from "./queue-book.ts";
import { Shares } from "./shares.ts";
import { Strand } from "./strand.ts";

// Ended jobs that can still be named: more than any queue keeps.
const ENDED_KEPT = 400;

export class Ledger {
  now = 0;
  lastId = 0;
  lastOrder = 0;
  jobs = new Map<number, LedgerJob>();
  ended = new Map<number, LedgerJob>();
  queues = new Map<string, QueueBook>();
  strands = new Map<string, Strand>();
  // Members that have not ended, by group.
  groups = new Map<string, Set<number>>();
  endedGroups = new Set<string>();
  gates = new GateBooks();
  keys = new KeyBook();
  shares = new Shares();

  // A copy that goes its own way; what is measured between lanes starts anew in it.
  clone(): Ledger {
    const copy = new Ledger();
    copy.now = this.now;
    copy.lastId = this.lastId;
    copy.lastOrder = this.lastOrder;
    copy.endedGroups = new Set(this.endedGroups);
    copy.gates = this.gates.clone();
    copy.keys = this.keys.clone();
    copy.shares = this.shares.clone();
    for (const [name, { config }] of this.queues)
      copy.queues.set(name, new QueueBook(name, config));
    for (const [name, members] of this.groups) copy.groups.set(name, new Set(members));
    for (const [id, job] of this.ended) copy.ended.set(id, { ...job });
    for (const job of this.jobs.values()) copy.#restore(job);
    for (const strand of this.strands.values()) {
      for (const { job, isFirst } of strand.jobs()) copy.wait(copy.jobs.get(job.id)!, isFirst, job);
    }
    return copy;
  }

  #restore(job: LedgerJob): void {
    const copy = { ...job };
    this.jobs.set(job.id, copy);
    if (job.state === "delayed") this.queue(job.queue).delayed++;
    if (job.state === "leased") this.#countLeased(copy, 1);
  }

  // Whether a purge has been called for and has not told every end.
  get isPurging(): boolean {
    for (const job of this.ended.values()) if (job.isPurged) return true;
    return false;
  }

  queue(name: string): QueueBook {
    const queue = this.queues.get(name);
    demand(queue !== undefined, "known queues", () => `there is no queue ${name}`);
    return queue!;
  }

  strandOf(job: LedgerJob): Strand {
    const lane = laneOf(job.path);
    const name = `${job.queue}\n${job.tier}\n${lane}\n\n${job.gates.join("\n")}`;
    let strand = this.strands.get(name);
    if (strand === undefined) {
      strand = new Strand(job.queue, job.tier, lane, job.gates);
      this.strands.set(name, strand);
    }
    return strand;
  }

  // The job waits for its turn; `as` is the job that it copies.
  wait(job: LedgerJob, isFirst: boolean, as?: LedgerJob): void {
    job.state = "waiting";
    job.time = as?.time ?? this.now;
    if (as !== undefined) job.order = as.order;
    else if (!isFirst) job.order = ++this.lastOrder;
    this.strandOf(job).add(job, isFirst);
    this.#countWaiting(job, 1);
    if (!isDlq(job.queue)) this.shares.enter(job);
  }

  unwait(job: LedgerJob): void {
    this.strandOf(job).remove(job);
    this.#countWaiting(job, -1);
    if (!isDlq(job.queue)) this.shares.leave(job);
  }

  delay(job: LedgerJob, until: number): void {
    job.state = "delayed";
    job.time = until;
    this.queue(job.queue).delayed++;
  }

  hold(job: LedgerJob, until: number): void {
    job.state = "leased";
    job.time = until;
    this.#countLeased(job, 1);
  }

  // Takes a job away from wherever it is.
  takeOff(job: LedgerJob): void {
    if (job.state === "waiting") this.unwait(job);
    else if (job.state === "delayed") this.queue(job.queue).delayed--;
    else if (job.state === "leased") {
      this.#countLeased(job, -1);
      for (const gate of job.gates) this.gates.of(gate, this.now).release(this.now);
    }
  }

  // A job that was taken off is over.
  end(job: LedgerJob, ending: Ending): void {
    job.state = "ended";
    job.ending = ending;
    job.time = this.now;
    this.releaseNames(job, ending);
    this.jobs.delete(job.id);
    this.ended.delete(job.id);
    this.ended.set(job.id, job);
    if (this.ended.size <= ENDED_KEPT) return;
    for (const id of this.ended.keys()) {
      this.ended.delete(id);
      return;
    }
  }

  releaseNames(job: LedgerJob, ending: Ending): void {
    this.keys.jobEnded(job, ending);
    job.dedupe = undefined;
    job.hasFollowUp = false;
    if (job.group === undefined) return;
    const members = this.groups.get(job.group)!;
    members.delete(job.id);
    if (members.size === 0) this.groups.delete(job.group);
    job.group = undefined;
  }

  #countWaiting(job: LedgerJob, by: number): void {
    const queue = this.queue(job.queue);
    const lane = laneOf(job.path);
    queue.waiting += by;
    queue.bytes += by * job.sizeBytes;
    queue.waitingAt[job.tier]! += by;
    if (job.gates.length === 0) queue.ungatedAt[job.tier]! += by;
    queue.lanes.set(lane, (queue.lanes.get(lane) ?? 0) + by);
  }

  #countLeased(job: LedgerJob, by: number): void {
    const queue = this.queue(job.queue);
    queue.leased += by;
    queue.leasedAt[job.tier]! += by;
  }
}

export function laneOf(path: readonly string[]): string {
  return path.join("\r");
}

export function isDlq(queue: string): boolean {
  return queue.endsWith(".dlq");
}

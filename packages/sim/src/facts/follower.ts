// Follows a broker by the facts that it appends to its log. A second engine applies them and must
// reach the same state as the broker's own. Each fact is judged before it is applied; leases also
// count for the shares of their lanes.

import { readFacts } from "@sluice/broker/facts";
import { Engine, type Fact, type JobRecord } from "@sluice/engine";
import type { Log } from "@sluice/log";
import { letterQueueConfig } from "@sluice/protocol";
import { type Followed, judgeFact } from "./judge-fact.ts";
import { Shares } from "./shares.ts";
import { strandOf, type WaitingJob } from "./strand.ts";

export class Follower implements Followed {
  readonly engine = new Engine({ letterQueue: letterQueueConfig });
  // Those that wait, and by strand in the order in which they go out.
  readonly waiting = new Map<number, WaitingJob>();
  readonly strands = new Map<string, Set<WaitingJob>>();
  // Those that are delayed or leased.
  readonly timed = new Map<number, JobRecord>();
  now = 0;
  readonly #shares = new Shares();
  // The weights of lanes from the last facts about jobs. 0: no job had set one.
  readonly #ownWeights = new Map<string, number>();
  // What a broker reads of its log when it opens has been judged in the life that wrote it.
  #isOpening = true;
  // A log begins with a mark; the facts before the first mark that is left are repeated after it.
  #hasMark = false;

  // The log as the broker gets it. `fail` is called with what is wrong with a fact.
  listen(log: Log, fail: (error: unknown) => void): Log {
    const hear = (bytes: Uint8Array): void => {
      try {
        for (const fact of readFacts(bytes)) this.hear(fact);
      } catch (error) {
        fail(error);
      }
    };
    const end = (): void => this.endReplay();
    return new Proxy(log, {
      get(target, name) {
        if (name === "append") {
          return (bytes: Uint8Array) => {
            hear(bytes);
            return target.append(bytes);
          };
        }
        if (name === "replay") {
          return async function* () {
            for await (const batch of target.replay()) {
              hear(batch.facts);
              yield batch;
            }
            end();
          };
        }
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  // From here on facts are news, and lanes are compared.
  endReplay(): void {
    this.#isOpening = false;
    this.#shares.restart();
  }

  // The first of a strand.
  headOf(strand: string): WaitingJob | undefined {
    let head: WaitingJob | undefined;
    for (const job of this.strands.get(strand) ?? []) {
      if (head === undefined || job.seq < head.seq) head = job;
    }
    return head;
  }

  hear(fact: Fact): void {
    this.#hasMark ||= fact.fact === "ids";
    if (!this.#hasMark) return;
    if (!this.#isOpening) {
      judgeFact(this, fact);
      const job = fact.fact === "leased" ? this.waiting.get(fact.id) : undefined;
      if (job !== undefined && !isDlq(job.queue)) this.#shares.serve(job);
    }
    this.now = Math.max(this.now, fact.at);
    this.engine.apply(fact);
    if (fact.fact === "job" || fact.fact === "moved") {
      this.#ownWeights.set(laneOf(fact.job), fact.job.weight);
      this.#shares.note(fact.job.cost);
      this.#look(fact.job.id);
    } else if ("id" in fact) this.#look(fact.id);
    else this.#changed(fact);
  }

  // Where a job is after a fact about it.
  #look(id: number): void {
    const before = this.waiting.get(id);
    const record = this.engine.queries.record(id);
    if (record?.state === "delayed" || record?.state === "leased") this.timed.set(id, record);
    else this.timed.delete(id);
    const isSame = record?.state === "waiting" && before?.seq === record.seq;
    if (isSame && before.strand === strandOf(record)) return;
    if (before !== undefined) this.#leave(before);
    if (record?.state !== "waiting") return;
    const job = { ...record, gates: [...record.gates].sort(), strand: strandOf(record) };
    this.waiting.set(id, job);
    const strand = this.strands.get(job.strand) ?? new Set();
    this.strands.set(job.strand, strand.add(job));
    if (isDlq(job.queue)) return;
    this.#weigh(job);
    this.#shares.enter(job);
  }

  #leave(job: WaitingJob): void {
    this.waiting.delete(job.id);
    const strand = this.strands.get(job.strand)!;
    strand.delete(job);
    if (strand.size === 0) this.strands.delete(job.strand);
    if (!isDlq(job.queue)) this.#shares.leave(job);
  }

  // The broker forgets the weight of a lane that has been idle for long. This engine does not,
  // because it only gets facts. If the two may differ, the lane's share is not judged.
  #weigh(job: WaitingJob): void {
    const { id, queue, tier, path } = job;
    const weight = this.engine.queries.job(id)?.weight ?? 1;
    const told = this.#ownWeights.get(laneOf(job)) ?? 0;
    this.#shares.setWeight(queue, tier, path, weight, weight === (told === 0 ? 1 : told));
  }

  // A fact about a queue, and so about many jobs.
  #changed(fact: Fact): void {
    if (fact.fact === "weight" || fact.fact === "queue") {
      const queue = fact.fact === "queue" ? fact.name : fact.queue;
      if (fact.fact === "queue" && !isDlq(queue)) {
        this.#shares.setTiers(queue, this.engine.queueConfig(queue).tierOrder);
      }
      for (const job of this.waiting.values()) {
        if (job.queue === queue && !isDlq(queue)) this.#weigh(job);
      }
    }
    // Purged jobs are not dispatched any more; the fact that ends each of them follows.
    if (fact.fact === "queue-deleted" || fact.fact === "purged") {
      for (const job of [...this.waiting.values()]) if (job.queue === fact.name) this.#leave(job);
      for (const { id, queue, state } of [...this.timed.values()]) {
        const isGone = fact.fact === "queue-deleted" || state === "delayed";
        if (queue === fact.name && isGone) this.timed.delete(id);
      }
    }
    if (fact.fact === "queue-deleted") this.#shares.forget(fact.name);
  }
}

function laneOf({ queue, tier, path }: Pick<JobRecord, "queue" | "tier" | "path">): string {
  return JSON.stringify([queue, tier, path]);
}

function isDlq(queue: string): boolean {
  return queue.endsWith(".dlq");
}

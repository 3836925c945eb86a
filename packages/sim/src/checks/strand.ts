// The waiting jobs of one lane that name the same gates, first to last.

import type { LedgerJob } from "./ledger-job.ts";

export class Strand {
  readonly queue: string;
  readonly tier: number;
  readonly lane: string;
  readonly gates: readonly string[];
  // Jobs given back, by age with the oldest at the end; they stand before all others, which came
  // later than any that has been out.
  #front: LedgerJob[] = [];
  readonly #rest = new Set<LedgerJob>();

  constructor(queue: string, tier: number, lane: string, gates: readonly string[]) {
    this.queue = queue;
    this.tier = tier;
    this.lane = lane;
    this.gates = gates;
  }

  get size(): number {
    return this.#front.length + this.#rest.size;
  }

  get head(): LedgerJob | undefined {
    if (this.#front.length > 0) return this.#front.at(-1);
    for (const job of this.#rest) return job;
    return undefined;
  }

  add(job: LedgerJob, isFirst: boolean): void {
    if (!isFirst) this.#rest.add(job);
    else {
      this.#front.push(job);
      this.#front.sort((a, b) => b.order - a.order);
    }
  }

  remove(job: LedgerJob): void {
    if (this.#rest.delete(job)) return;
    this.#front = this.#front.filter((other) => other !== job);
  }

  *jobs(): Generator<{ job: LedgerJob; isFirst: boolean }> {
    for (const job of this.#front) yield { job, isFirst: true };
    for (const job of this.#rest) yield { job, isFirst: false };
  }
}

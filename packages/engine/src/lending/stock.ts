/**
 * The permits that a gate has borrowed from its home, in lots, the oldest first.
 *
 * A borrowed gate has no books of its own: a job passes when the stock covers it, whatever the
 * limits are. The stock is gone after a restart; the home lets it expire.
 */
import type { LotUse } from "./ledger.ts";

interface StockLot {
  readonly lot: number;
  readonly cost: number;
  readonly jobs: number;
  usedCost: number;
  usedJobs: number;
  readonly until: number;
  /** The interval that was over when it was lent; a job with a longer one must not use it. */
  readonly spacing: number;
}

export interface NewLot {
  readonly lot: number;
  readonly cost: number;
  readonly jobs: number;
  readonly tier: number;
  /** It must not be used at or after this. */
  readonly until: number;
}

/** Jobs of a lot that follows one which was used up. */
const JOBS_MAX = 4096;

export class Stock {
  lots: StockLot[] = [];
  /** Lots that are over, until they are reported. */
  over: LotUse[] = [];
  /** What is missing for those who wait, as of the last look. */
  missing: { cost: number; tier: number; unit: number } | undefined = undefined;
  /** How many jobs to ask for: more after a lot that was used up, fewer after one that was not. */
  jobsNext = 1;
  /** The gate is among those that something changed of. */
  readonly note: () => void;

  constructor(note: () => void) {
    this.note = note;
  }

  get isEmpty(): boolean {
    return this.lots.length === 0 && this.over.length === 0;
  }

  /** What may be used now. */
  left(spacing: number, now: number): { cost: number; jobs: number } {
    let cost = 0;
    let jobs = 0;
    for (const lot of this.lots) {
      if (lot.until <= now || lot.spacing < spacing) continue;
      cost += lot.cost - lot.usedCost;
      jobs += lot.jobs - lot.usedJobs;
    }
    return { cost, jobs };
  }

  covers(cost: number, jobs: number, spacing: number, now: number): boolean {
    if (this.lots.length === 0) return false;
    const left = this.left(spacing, now);
    return left.cost >= cost && left.jobs >= jobs;
  }

  add(grant: NewLot, spacing: number): void {
    const { lot, cost, jobs, until } = grant;
    this.lots.push({ lot, cost, jobs, usedCost: 0, usedJobs: 0, until, spacing });
    this.note();
  }

  /** A job goes out that the stock covers. */
  take(cost: number, spacing: number, now: number): void {
    let costLeft = cost;
    let jobsLeft = 1;
    for (const lot of [...this.lots]) {
      if (lot.until <= now || lot.spacing < spacing) continue;
      const ofCost = Math.min(costLeft, lot.cost - lot.usedCost);
      const ofJobs = Math.min(jobsLeft, lot.jobs - lot.usedJobs);
      lot.usedCost += ofCost;
      lot.usedJobs += ofJobs;
      costLeft -= ofCost;
      jobsLeft -= ofJobs;
      if (lot.usedCost === lot.cost || lot.usedJobs === lot.jobs) {
        this.jobsNext = Math.min(JOBS_MAX, Math.max(this.jobsNext, lot.jobs * 2));
        this.#end(lot);
      }
    }
    this.note();
  }

  /** Gives back what can no longer be used. */
  expire(now: number): void {
    for (const lot of [...this.lots]) if (lot.until <= now) this.#giveBack(lot);
  }

  giveBack(): void {
    for (const lot of [...this.lots]) this.#giveBack(lot);
  }

  #giveBack(lot: StockLot): void {
    this.jobsNext = Math.max(1, lot.usedJobs);
    this.#end(lot);
    this.note();
  }

  #end(lot: StockLot): void {
    this.lots.splice(this.lots.indexOf(lot), 1);
    this.over.push(useOf(lot, true));
  }

  /** What became of each lot that may still be used. */
  uses(): LotUse[] {
    return this.lots.map((lot) => useOf(lot, false));
  }

  /** Hands over the lots that are over and not reported yet. */
  takeOver(): LotUse[] {
    const { over } = this;
    if (over.length > 0) this.over = [];
    return over;
  }

  expiresAt(): number {
    let at = Number.POSITIVE_INFINITY;
    for (const { until } of this.lots) at = Math.min(at, until);
    return at;
  }
}

function useOf({ lot, usedCost, usedJobs }: StockLot, isOver: boolean): LotUse {
  return { lot, usedCost, usedJobs, isOver };
}

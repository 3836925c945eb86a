/** What happened in one tier since the server started, and who waits there. */

export interface TierStats {
  readonly enqueued: number;
  readonly started: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly rejected: number;
  readonly spilled: number;
  readonly oldest_age_ms: number | null;
}

export interface WaitingJob {
  readonly uid: string;
  /** Empty for submitters without a name. */
  readonly submitter: string;
  readonly addedAt: number;
}

export class TierCounts {
  readonly name: string;
  enqueued = 0;
  started = 0;
  succeeded = 0;
  failed = 0;
  /** Submissions that were answered 429. */
  rejected = 0;
  /** Jobs that were meant for this tier and went to a lower one. */
  spilled = 0;
  /** By uid, the oldest first. */
  readonly #waiting = new Map<string, WaitingJob>();
  /** How many wait of each submitter that has any. */
  readonly #counts = new Map<string, number>();

  constructor(name: string) {
    this.name = name;
  }

  /** Jobs that ran to their end, well or not. */
  get processed(): number {
    return this.succeeded + this.failed;
  }

  waitingOf(submitter: string): number {
    return this.#counts.get(submitter) ?? 0;
  }

  wait(job: WaitingJob): void {
    this.#waiting.set(job.uid, job);
    this.#counts.set(job.submitter, this.waitingOf(job.submitter) + 1);
  }

  has(uid: string): boolean {
    return this.#waiting.has(uid);
  }

  /** False when it did not wait here. */
  leave(uid: string): boolean {
    const job = this.#waiting.get(uid);
    if (job === undefined) return false;
    this.#waiting.delete(uid);
    const left = this.waitingOf(job.submitter) - 1;
    if (left === 0) this.#counts.delete(job.submitter);
    else this.#counts.set(job.submitter, left);
    return true;
  }

  stats(now: number): TierStats {
    const { enqueued, started, succeeded, failed, rejected, spilled } = this;
    const [oldest] = this.#waiting.values();
    const oldest_age_ms = oldest === undefined ? null : Math.max(0, now - oldest.addedAt);
    return { enqueued, started, succeeded, failed, rejected, spilled, oldest_age_ms };
  }
}

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

export class TierBook {
  readonly name: string;
  enqueued = 0;
  started = 0;
  succeeded = 0;
  failed = 0;
  /** Submissions that were answered 429. */
  rejected = 0;
  /** Jobs that were meant for this tier and went to a lower one. */
  spilled = 0;
  /** When each waiting job was added, the oldest first. */
  readonly #waiting = new Map<string, number>();

  constructor(name: string) {
    this.name = name;
  }

  /** Jobs that ran to their end, well or not. */
  get processed(): number {
    return this.succeeded + this.failed;
  }

  wait(uid: string, addedAt: number): void {
    this.#waiting.set(uid, addedAt);
  }

  leave(uid: string): void {
    this.#waiting.delete(uid);
  }

  stats(now: number): TierStats {
    const { enqueued, started, succeeded, failed, rejected, spilled } = this;
    const [oldest] = this.#waiting.values();
    const oldest_age_ms = oldest === undefined ? null : Math.max(0, now - oldest);
    return { enqueued, started, succeeded, failed, rejected, spilled, oldest_age_ms };
  }
}

import type { Ack, Broker, ErrorCode, LeasedJob, Outcome } from "@sluice/protocol";
import { HELD_FIRST_LOOK, RETURNED_AT_ONCE } from "../limits.ts";

/** After these answers the lease is over. */
const LOSING: ReadonlySet<ErrorCode> = new Set([
  "LEASE_LOST",
  "ALREADY_FINISHED",
  "JOB_NOT_FOUND",
  "QUEUE_NOT_FOUND",
]);

const GONE = "the connection to the worker was lost";

/** The leases that the consumers of one session hold, and what becomes of them when it is over. */
export class HeldLeases {
  /** When each ends by the broker's clock, as far as is known here. */
  readonly #until = new Map<string, number>();
  #lookAt = HELD_FIRST_LOOK;

  get size(): number {
    return this.#until.size;
  }

  take(jobs: readonly LeasedJob[]): void {
    for (const { lease, expiresAt } of jobs) this.#until.set(lease, expiresAt);
    if (this.#until.size > this.#lookAt) this.#forgetExpired(jobs[0]!);
  }

  /** Ends were answered: who was told that a job is over, or is not theirs, holds it no more. */
  ended(items: readonly (Ack | string)[], outcomes: readonly Outcome<unknown>[]): void {
    for (let i = 0; i < items.length; i++) {
      const item = items[i]!;
      const error = outcomes[i]?.error;
      if (error !== undefined && !LOSING.has(error.code)) continue;
      this.#until.delete(typeof item === "string" ? item : item.lease);
    }
  }

  extended(items: readonly { lease: string }[], outcomes: readonly Outcome<number>[]): void {
    for (let i = 0; i < items.length; i++) {
      const until = outcomes[i]?.ok;
      const { lease } = items[i]!;
      if (until !== undefined && this.#until.has(lease)) this.#until.set(lease, until);
    }
  }

  /** The worker has left: the jobs were not started, and no attempt is lost. */
  giveBack(broker: Broker): Promise<void> {
    return this.#inBatches((leases) => broker.giveBack(leases));
  }

  /** The worker is taken to be dead, as if its leases had run out: an attempt is. */
  abandon(broker: Broker): Promise<void> {
    return this.#inBatches((leases) =>
      broker.nack(leases.map((lease) => ({ lease, error: GONE, blame: false }))),
    );
  }

  async #inBatches(call: (leases: string[]) => Promise<unknown>): Promise<void> {
    const leases = [...this.#until.keys()];
    this.#until.clear();
    for (let at = 0; at < leases.length; at += RETURNED_AT_ONCE) {
      await call(leases.slice(at, at + RETURNED_AT_ONCE));
    }
  }

  /** A worker that forgets its jobs must not make this grow without end. */
  #forgetExpired({ expiresAt, expiresIn }: LeasedJob): void {
    const now = expiresAt - expiresIn;
    for (const [lease, until] of this.#until) if (until < now) this.#until.delete(lease);
    this.#lookAt = Math.max(HELD_FIRST_LOOK, 2 * this.#until.size);
  }
}

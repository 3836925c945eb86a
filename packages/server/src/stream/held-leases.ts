import { type Ack, type Broker, isLosing, type LeasedJob, type Outcome } from "@sluice/protocol";
import {
  HELD_FIRST_LOOK,
  RETURNED_AT_ONCE,
  SEARCH_STEPS_EARNED,
  SEARCH_STEPS_MAX,
} from "../limits.ts";

const GONE = "the connection to the worker was lost";

const ENDED = "";

/**
 * The leases that the consumers of one session hold, and what becomes of them when it is over.
 *
 * New leases are in a line. Most jobs end in the order of delivery, or in runs of it, so the lease
 * that ends is mostly the one behind the last that did: 20 ns for a job, where a map takes 110 ns
 * to hash its token twice. A lease that is elsewhere in the line is searched for. Each one in
 * order pays for some steps of a search; when they are used up, the whole line goes into a map.
 */
export class HeldLeases {
  /** When each ends by the broker's clock, as far as is known here. */
  readonly #until = new Map<string, number>();
  /** Delivered after all that is in the map; `ENDED` where it is over, as all before `#front`. */
  #line: string[] = [];
  #lineUntil: number[] = [];
  #front = 0;
  /** Behind the lease that ended last. */
  #next = 0;
  #inLine = 0;
  #steps = SEARCH_STEPS_MAX;
  #lookAt = HELD_FIRST_LOOK;

  get size(): number {
    return this.#until.size + this.#inLine;
  }

  take(jobs: readonly LeasedJob[]): void {
    for (const { lease, expiresAt } of jobs) {
      this.#line.push(lease);
      this.#lineUntil.push(expiresAt);
    }
    this.#inLine += jobs.length;
    if (this.size > this.#lookAt) this.#forgetExpired(jobs[0]!);
  }

  /** Ends were answered: a session holds no job any more that is over, or is not its own. */
  ended(items: readonly (Ack | string)[], outcomes: readonly Outcome<unknown>[]): void {
    for (let i = 0; i < items.length; i++) {
      const item = items[i]!;
      const error = outcomes[i]?.error;
      if (error !== undefined && !isLosing(error)) continue;
      this.#end(typeof item === "string" ? item : item.lease);
    }
    const line = this.#line;
    while (line[this.#front] === ENDED) this.#front++;
    if (this.#front > line.length / 2) this.#shorten();
  }

  extended(items: readonly { lease: string }[], outcomes: readonly Outcome<number>[]): void {
    this.#lineToMap();
    for (let i = 0; i < items.length; i++) {
      const until = outcomes[i]?.ok;
      const { lease } = items[i]!;
      if (until !== undefined && this.#until.has(lease)) this.#until.set(lease, until);
    }
  }

  #end(lease: string): void {
    let at = this.#next;
    if (this.#line[at] !== lease || lease === ENDED) {
      if (this.#until.delete(lease)) return;
      at = this.#search(lease);
      if (at === -1) return;
    } else this.#steps = Math.min(SEARCH_STEPS_MAX, this.#steps + SEARCH_STEPS_EARNED);
    this.#line[at] = ENDED;
    this.#inLine--;
    this.#next = at + 1;
  }

  /** Where it is in the line; -1: it is not there, or has ended in the map. */
  #search(lease: string): number {
    const line = this.#line;
    const end = Math.min(line.length, this.#front + this.#steps);
    for (let at = this.#front; at < end; at++) {
      if (line[at] !== lease || lease === ENDED) continue;
      this.#steps -= at - this.#front;
      return at;
    }
    this.#steps -= end - this.#front;
    if (end < line.length) {
      this.#lineToMap();
      this.#until.delete(lease);
    }
    return -1;
  }

  #lineToMap(): void {
    const line = this.#line;
    for (let at = this.#front; at < line.length; at++) {
      const lease = line[at]!;
      if (lease !== ENDED) this.#until.set(lease, this.#lineUntil[at]!);
    }
    this.#inLine = 0;
    this.#front = line.length;
    this.#shorten();
  }

  #shorten(): void {
    this.#line = this.#line.slice(this.#front);
    this.#lineUntil = this.#lineUntil.slice(this.#front);
    this.#next = Math.max(0, this.#next - this.#front);
    this.#front = 0;
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
    this.#lineToMap();
    const leases = [...this.#until.keys()];
    this.#until.clear();
    for (let at = 0; at < leases.length; at += RETURNED_AT_ONCE) {
      await call(leases.slice(at, at + RETURNED_AT_ONCE));
    }
  }

  /** A worker that forgets its jobs must not make this grow without end. */
  #forgetExpired({ expiresAt, expiresIn }: LeasedJob): void {
    const now = expiresAt - expiresIn;
    this.#lineToMap();
    for (const [lease, until] of this.#until) if (until < now) this.#until.delete(lease);
    this.#lookAt = Math.max(HELD_FIRST_LOOK, 2 * this.#until.size);
  }
}

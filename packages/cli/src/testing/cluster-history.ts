// What the clients of a cluster were answered, and whether it fits together: nothing confirmed
// is lost, nothing that is finished is delivered again, no job is with two workers while the lease
// of the first lives, no two jobs have one name or one id, and no gate lets through more than it
// may.

import type { GateSettings } from "@sluice/protocol";
import { type Dispatch, excesses, JobHistory } from "@sluice/protocol/conformance";

export interface Delivery {
  readonly id: string;
  readonly lease: string;
  // What the job says of itself: it is another one for every job.
  readonly name: string;
  readonly gate: string | undefined;
  readonly at: number;
  // Its lease lives until then at least, by the same clock as `at`.
  readonly until: number;
}

interface GateBook {
  readonly config: GateSettings;
  // Leases that workers have at the moment.
  readonly running: Set<string>;
  most: number;
  // Those of the moment at which they were most.
  mostLeases: readonly string[];
  readonly dispatches: Map<string, Dispatch>;
}

// Jobs that went out apart may arrive together, when the way between was held up: a rate is judged
// over some seconds, and with a second more than they are.
const RATE_WINDOW_MS = 5_000;
const RATE_SLACK_MS = 1_000;

export class ClusterHistory extends JobHistory {
  readonly #confirmed = new Set<string>();
  // Jobs that a worker holds.
  readonly #held = new Map<string, Delivery>();
  readonly #gates = new Map<string, GateBook>();
  readonly #acks = new Map<string, string>();
  refused = 0;

  rule(gate: string, config: GateSettings): void {
    const book = { running: new Set<string>(), most: 0, mostLeases: [], dispatches: new Map() };
    this.#gates.set(gate, { config, ...book });
  }

  get confirmed(): number {
    return this.#confirmed.size;
  }

  get finishedCount(): number {
    return this.overCount;
  }

  mostAt(gate: string): number {
    return this.#gates.get(gate)?.most ?? 0;
  }

  added(name: string, id: string): void {
    this.known(name, id);
    this.#confirmed.add(id);
  }

  delivered(delivery: Delivery): void {
    const { id, lease, name, gate, at } = delivery;
    const held = this.#held.get(id);
    if (held !== undefined && at < held.until) {
      const leftMs = Math.round(held.until - at);
      this.fail(`${name} (${id}) is with two workers, the first has it for ${leftMs} ms more`);
    }
    this.#held.set(id, delivery);
    this.leased(name, id, lease);
    this.#acks.set(lease, "unanswered");
    const book = gate === undefined ? undefined : this.#gates.get(gate);
    if (book === undefined) return;
    const endedAt = Number.POSITIVE_INFINITY;
    book.dispatches.set(lease, { at, cost: 1, tier: 0, endedAt });
    book.running.add(lease);
    if (book.running.size <= book.most) return;
    book.most = book.running.size;
    book.mostLeases = [...book.running];
  }

  // The worker is done, before its ack is sent.
  worked({ id, lease, gate }: Delivery, at: number): void {
    if (this.#held.get(id)?.lease === lease) this.#held.delete(id);
    const book = gate === undefined ? undefined : this.#gates.get(gate);
    if (book === undefined) return;
    book.running.delete(lease);
    const dispatch = book.dispatches.get(lease);
    if (dispatch !== undefined) dispatch.endedAt = at;
  }

  // What an ack was answered: a lease that was over had been delivered late.
  acked(lease: string, answer: string): void {
    this.#acks.set(lease, answer);
  }

  #acksOf(leases: readonly string[]): string {
    return leases.map((lease) => `${lease} ${this.#acks.get(lease)}`).join(", ");
  }

  // How often a job was delivered, and what became of each delivery.
  deliveriesOf(id: string): string {
    return this.#acksOf([...this.#acks.keys()].filter((lease) => lease.startsWith(`${id}.`)));
  }

  // Confirmed, and not known to be finished.
  get open(): string[] {
    return [...this.#confirmed].filter((id) => !this.isOver(id));
  }

  judge(): void {
    for (const [gate, { config, dispatches, mostLeases }] of this.#gates) {
      for (const { part, text } of excesses(asTheyArrive(config), [...dispatches.values()])) {
        const which = part === "concurrency" ? ` (${this.#acksOf(mostLeases)})` : "";
        this.fail(`${gate}: ${part}: ${text}${which}`);
      }
    }
    for (const id of this.open) this.fail(`${this.nameOf(id)} (${id}) was lost`);
  }
}

function asTheyArrive({ concurrency, rate, burst = 0 }: GateSettings): GateSettings {
  if (rate === undefined) return { concurrency };
  const limit = burst + (rate * (RATE_WINDOW_MS + RATE_SLACK_MS)) / 1_000;
  return { concurrency, windows: [{ limit, per: RATE_WINDOW_MS }] };
}

// A history told call by call, for tests of the checker.

import type { Added, BrokerEvent, GateInfo, GateSettings, QueueStats } from "@sluice/protocol";
import { Checker } from "./checker.ts";
import type { Delivered, HistoryRecord, ItemAnswer, JobNote, PortCall, SeenJob } from "./record.ts";

export const LEASE_MS = 100;

const EVENT = { queue: "q", id: "a1" };

// The first job is leased, given back, and fails for good.
export const leased: BrokerEvent = {
  event: "leased",
  at: 1_000,
  ...EVENT,
  worker: "w",
  attempt: 0,
};
export const returned: BrokerEvent = { event: "returned", at: 1_001, ...EVENT };
export const failed: BrokerEvent = { event: "ended", at: 1_100, ...EVENT, state: "failed" };

// Time advances only when the story advances it.
export class Story {
  at = 1_000;
  readonly #checker = new Checker();
  #calls = 0;

  take(record: HistoryRecord): this {
    this.#checker.take(record);
    return this;
  }

  call(call: PortCall): number {
    const n = this.#calls++;
    this.take({ is: "call", n, at: this.at, wallAheadMs: 0, call });
    return n;
  }

  wall(wallAheadMs: number): this {
    return this.take({ is: "wall", at: this.at, wallAheadMs });
  }

  // A call and its answer.
  done(call: PortCall, ...items: ItemAnswer[]): this {
    return this.take({ is: "answer", n: this.call(call), at: this.at, items });
  }

  add(number: number, note: Omit<JobNote, "number"> = {}, added: Partial<Added> = {}): this {
    const jobs = [{ number, attempts: 3, ...note }];
    const ok = { id: `a${number}`, tier: 0, ...added };
    return this.done({ call: "add", queue: "q", jobs }, { ok });
  }

  deliver(number: number, count = 1, more: Partial<Delivered> = {}): this {
    const job = {
      id: `a${number}`,
      lease: `a${number}.${count}`,
      queue: "q",
      attempt: 0,
      attempts: 3,
      tier: 0,
      expiresAt: this.at + LEASE_MS,
      body: number,
      ...more,
    };
    return this.take({ is: "delivery", at: this.at, to: "w", leaseMs: LEASE_MS, jobs: [job] });
  }

  ack(number: number, count = 1): this {
    return this.done({ call: "ack", leases: [`a${number}.${count}`] }, { ok: true });
  }

  // A call that succeeds.
  ok(call: PortCall, value: unknown = true): this {
    return this.done(call, { ok: value });
  }

  // A gate "g" with these limits, and jobs that name it.
  gate(config: GateSettings): this {
    return this.ok({ call: "setGate", gate: "g", config }).pass(1);
  }

  passGate(number: number): this {
    return this.add(number, { gates: ["g"] }).deliver(number);
  }

  event(event: BrokerEvent): this {
    return this.take({ is: "event", event });
  }

  pass(ms: number): this {
    this.at += ms;
    return this;
  }

  crash(isClean = false): this {
    return this.take({ is: "end", at: this.at, isClean });
  }

  finish(): void {
    const nothing = { queues: [], jobs: [], gates: [], stores: [], groups: [] };
    this.#checker.finish(nothing);
  }

  // Of the first job, after a restart.
  seen(job: Partial<SeenJob>): this {
    return this.look([job]);
  }

  // What is seen after a restart.
  look(jobs: readonly Partial<SeenJob>[] = [], more: Partial<Look> = {}): this {
    const { stats = {}, gates = [], stores = [], groups = [], at = this.at } = more;
    const seen = jobs.map((job) => ({
      id: "a1",
      queue: "q",
      state: "waiting" as const,
      attempt: 0,
      body: 1,
      ...job,
    }));
    const of = (state: string): number => seen.filter((job) => job.state === state).length;
    const counts = {
      waiting: of("waiting"),
      delayed: of("delayed"),
      running: of("running"),
      kept: of("finished") + of("failed"),
      added: 0,
      finished: 0,
      dispatched: 0,
      ...stats,
    };
    const queues = more.stats === undefined ? [] : [{ name: "q", stats: counts as QueueStats }];
    const clockAt = this.at;
    return this.take({
      is: "state",
      at,
      clockAt,
      openMs: 0,
      seen: { queues, jobs: seen, gates: gates as GateInfo[], stores, groups },
    });
  }
}

export interface Look {
  at: number;
  stats: Partial<QueueStats>;
  gates: readonly Partial<GateInfo>[];
  stores: { store: string; entries: { key: string; value: unknown }[] }[];
  groups: { id: string; ended: boolean; members: { id: string }[] }[];
}

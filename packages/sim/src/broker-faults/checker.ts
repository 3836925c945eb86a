// Judges a history by the promises that are made to those outside. The books know what was called,
// answered and delivered, never how the broker came to it; the first record that breaks a promise
// throws `Broken`.

import type { Added } from "@sluice/protocol";
import { demand } from "../demand.ts";
import { DedupeBook } from "./dedupe-book.ts";
import { GateLimits } from "./gate-limits.ts";
import { GroupBook } from "./group-book.ts";
import { JobBook } from "./job-book.ts";
import type { OpenCall } from "./known-job.ts";
import { QueueBook } from "./queue-book.ts";
import {
  type HistoryRecord,
  type ItemAnswer,
  OWN_WORKER,
  type PortCall,
  type Seen,
} from "./record.ts";
import { StoreBook } from "./store-book.ts";
import { StrandBook } from "./strand-book.ts";
import { WallBook } from "./wall-book.ts";

interface Totals {
  adds: number;
  acks: number;
  deliveries: number;
  restarts: number;
}

export class Checker {
  readonly jobs = new JobBook();
  readonly totals: Totals = { adds: 0, acks: 0, deliveries: 0, restarts: 0 };
  readonly #strands = new StrandBook();
  readonly #gates = new GateLimits(this.jobs);
  readonly #groups = new GroupBook(this.jobs);
  readonly #dedupes = new DedupeBook(this.jobs);
  readonly #queues = new QueueBook();
  readonly #stores = new StoreBook();
  readonly #wall = new WallBook();
  readonly #open = new Map<number, OpenCall>();
  // No fact that is certainly there is later than this, and none at all later than that.
  #certainAt = 0;
  #lastAt = 0;

  get groups(): readonly string[] {
    return this.#groups.names;
  }

  take(record: HistoryRecord): void {
    if (record.is === "unseen") return this.#wall.noteUnseen(record.wallAt, this.#lastAt);
    if ("wallAheadMs" in record) this.#wall.note(record.at, record.wallAheadMs);
    if (record.is === "wall") return;
    if (record.is === "call") this.#called({ ...record, wall: this.#wall });
    else if (record.is === "answer") this.#answered(record.n, record.at, record.items);
    else if (record.is === "delivery") this.#delivered(record);
    else if (record.is === "event") this.#told(record);
    else if (record.is === "end") this.#ended(record);
    else this.#looked(record);
  }

  // Nothing is left to do: all that was promised must have been kept.
  finish(seen: Seen): void {
    this.jobs.finish();
    this.#groups.finish(seen.groups);
  }

  #called(open: OpenCall): void {
    const { n, at } = open;
    this.#open.set(n, open);
    this.#lastAt = Math.max(this.#lastAt, at);
    this.jobs.called(open);
    this.#gates.called(open);
    this.#groups.called(open);
    this.#stores.called(open);
    this.#queues.called(open);
    this.#strands.called(open);
  }

  #answered(n: number, at: number, items: readonly ItemAnswer[]): void {
    const open = this.#open.get(n);
    demand(open !== undefined, "answers", () => `call ${n} was answered and never made`);
    this.#open.delete(n);
    this.#lastAt = Math.max(this.#lastAt, at);
    const { call } = open!;
    if (items.some((item) => isChange(call, item))) {
      this.#certainAt = Math.max(this.#certainAt, open!.at);
    }
    this.#dedupes.answered(open!, at, items);
    this.#queues.answered(open!, items, this.jobs.about(n));
    this.jobs.answered(open!, at, items);
    this.#gates.answered(open!, items);
    this.#stores.answered(open!, items);
    if (call.call === "add") this.totals.adds += items.filter((item) => "ok" in item).length;
    if (call.call === "ack") this.totals.acks += items.filter((item) => "ok" in item).length;
  }

  #delivered({ at, to, leaseMs, jobs }: Extract<HistoryRecord, { is: "delivery" }>): void {
    this.#lastAt = Math.max(this.#lastAt, at);
    for (const delivered of jobs) {
      const grantedAt = delivered.expiresAt - leaseMs;
      demand(grantedAt <= at, "leases", () => {
        return `job ${delivered.id} runs until ${delivered.expiresAt}, ${leaseMs} from ${at}`;
      });
      this.totals.deliveries++;
      this.#certainAt = Math.max(this.#certainAt, grantedAt);
      const job = this.jobs.find(delivered);
      this.#gates.granted(job, delivered, grantedAt);
      this.jobs.delivered(job, delivered, grantedAt, to.startsWith(OWN_WORKER));
      this.#strands.granted(job, delivered, grantedAt, to);
      this.#queues.granted(delivered.queue);
    }
  }

  #told({ event }: Extract<HistoryRecord, { is: "event" }>): void {
    this.#lastAt = Math.max(this.#lastAt, event.at);
    if (event.event === "leased") this.jobs.granted(event.id, event.attempt, event.at);
    if (event.event === "returned") this.jobs.returned(event.id);
    if (event.event === "ended") this.jobs.told(event.id, event.state, event.at);
    if (event.event === "dead") this.jobs.told(event.id, "dead", event.at);
    if (event.event === "group-ended") this.#groups.told(event.group, event.at);
  }

  #ended({ at, isClean }: Extract<HistoryRecord, { is: "end" }>): void {
    this.#lastAt = Math.max(this.#lastAt, at);
    demand(!isClean || this.#open.size === 0, "answers", () => {
      const [first] = this.#open.values();
      return `the broker closed and never answered ${this.#open.size} calls: ${show(first!.call)}`;
    });
    for (const { n, call } of this.#open.values()) {
      if (call.call !== "ack") continue;
      for (const { lease } of this.jobs.about(n)) this.#queues.unanswered(lease?.queue ?? "");
    }
    this.#open.clear();
    this.jobs.restarted(isClean);
    this.#gates.restarted();
    this.totals.restarts++;
  }

  #looked({ at, clockAt, openMs, seen }: Extract<HistoryRecord, { is: "state" }>): void {
    demand(at >= clockAt && at >= this.#certainAt, "time", () => {
      return `it is ${at} after a restart; the clock said ${clockAt}, a fact ${this.#certainAt}`;
    });
    const most = Math.max(this.#lastAt, clockAt) + openMs;
    demand(at <= most, "time", () => {
      return `it is ${at} after a restart; the clock said ${clockAt}, the last ${this.#lastAt}`;
    });
    this.jobs.looked(seen.jobs, at);
    this.#queues.looked(seen);
    this.#gates.looked(seen.gates, at);
    this.#stores.looked(seen.stores);
    this.#groups.looked(seen.groups, at);
  }
}

const ALWAYS_CHANGE = new Set<PortCall["call"]>([
  "ack",
  "nack",
  "giveBack",
  "extend",
  "setQueue",
  "setGate",
  "cooldown",
]);

// Whether the answer says that something is in the log since.
function isChange({ call }: PortCall, item: ItemAnswer): boolean {
  if ("error" in item) return false;
  if (call === "cancel") return item.ok === true;
  if (call !== "add") return ALWAYS_CHANGE.has(call);
  const { duplicate, dropped } = item.ok as Added;
  return duplicate !== true && dropped !== true;
}

function show(call: PortCall): string {
  return JSON.stringify(call).slice(0, 200);
}

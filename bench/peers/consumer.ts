// Finishes jobs of one system, from a process of its own, and remembers what came when.

import PQueue from "p-queue";
import { answer } from "../answer.ts";
import { percentileOf } from "../percentile.ts";
import { CLIENTS } from "./clients.ts";
import { Delivered } from "./delivered.ts";
import { paceOf } from "./pace.ts";
import type { Client, ClientName, Job, Place } from "./system.ts";

// The limiter of systems that have none: so many starts in any tenth of a second, in the consumer.
// Bottleneck, which many would take, spends a timer on each job and kept to a third of the limit on
// a busy machine.
const INTERVAL_MS = 100;
// What waits longer than this for the limiter was fetched before it could run.
const AT_ONCE_MS = 2;

export interface Turn {
  readonly first: number;
  readonly count: number;
  // How long a handler takes; undefined: no time at all.
  readonly handlerMs?: number;
  // Finishes only as many jobs as `permit` has allowed; the others stay in their handlers.
  readonly isHeld?: boolean;
}

const now = (): number => performance.timeOrigin + performance.now();

let client: Client;
let limiter: PQueue | undefined;
let turn: Turn = { first: 0, count: 0 };
let delivered = new Delivered(0, 0);
let stop: (() => Promise<void>) | undefined;
let left = 0;
let ended = Promise.withResolvers<void>();
let begun: Job[] = [];
let begunAt: number[] = [];
let fetchedEarly = 0;
let permits = 0;
const held: (() => void)[] = [];

function handle(job: Job): void | Promise<void> {
  delivered.mark(job.id);
  if (limiter === undefined) return begin(job);
  const cameAt = now();
  return limiter.add(async () => {
    if (now() - cameAt > AT_ONCE_MS) fetchedEarly += 1;
    await begin(job);
  });
}

function begin(job: Job): void | Promise<void> {
  begun.push(job);
  begunAt.push(now());
  const { handlerMs, isHeld } = turn;
  if (handlerMs !== undefined) return new Promise((resolve) => setTimeout(resolve, handlerMs));
  if (isHeld !== true) return;
  if (permits > 0) permits -= 1;
  else return new Promise((resolve) => held.push(resolve));
}

function stored(count: number): void {
  left -= count;
  if (left <= 0) ended.resolve();
}

function expect(count: number): void {
  left = count;
  begun = [];
  begunAt = [];
  fetchedEarly = 0;
  ended = Promise.withResolvers();
  // Whoever asks later must hear of it then.
  ended.promise.catch(() => undefined);
}

function check(isWhole: boolean): void {
  const fault = delivered.fault(isWhole);
  if (fault !== undefined) throw new Error(fault);
}

answer({
  async open(name: ClientName, place: Place) {
    const { connect } = await CLIENTS[name]();
    client = await connect(place);
    if (place.limitPerSecond === undefined || client.limits) return;
    const intervalCap = (place.limitPerSecond * INTERVAL_MS) / 1000;
    limiter = new PQueue({ intervalCap, interval: INTERVAL_MS, strict: true });
  },

  async begin(next: Turn) {
    turn = next;
    delivered = new Delivered(turn.first, turn.count);
    expect(turn.count);
    const failed = (error: unknown): void => ended.reject(error);
    stop = await client.consume({ handle, stored, failed });
  },

  // Resolves when everything that was expected is finished for good.
  async finished() {
    await ended.promise;
    await client.settle?.(() => held.length);
    check(false);
  },

  // So many more may end, and are expected to.
  permit(count: number) {
    expect(count);
    permits = count;
    while (permits > 0 && held.length > 0) {
      permits -= 1;
      held.shift()!();
    }
  },

  // What came last: late and repeated jobs have had their time.
  async stop(isWhole: boolean) {
    await stop?.();
    stop = undefined;
    check(isWhole);
  },

  // Percentiles of the time from when an add was due to the begin of its handler.
  latencies(shares: number[]) {
    const ms = begun.map(({ at }, index) => begunAt[index]! - at);
    return shares.map((share) => percentileOf(ms, share));
  },

  // Of the jobs of all tenants but 0, who floods: how long each waited, and how many jobs of the
  // flood went before it in that time.
  quiet(shares: number[]) {
    const waits: number[] = [];
    const overtaken: number[] = [];
    const flood = begunAt.filter((_, index) => begun[index]!.tenant === 0);
    for (const [index, { tenant, at }] of begun.entries()) {
      if (tenant === 0) continue;
      waits.push(begunAt[index]! - at);
      overtaken.push(countBefore(flood, begunAt[index]!) - countBefore(flood, at));
    }
    return shares.flatMap((share) => [percentileOf(waits, share), percentileOf(overtaken, share)]);
  },

  pace() {
    return { ...paceOf(begunAt.toSorted((a, b) => a - b)), fetchedEarly };
  },
});

// The times are in their order.
function countBefore(times: readonly number[], time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

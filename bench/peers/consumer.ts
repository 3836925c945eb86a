// Finishes jobs of one system, from a process of its own, and remembers what came when.

import PQueue from "p-queue";
import { answer } from "../answer.ts";
import { percentileOf } from "../percentile.ts";
import { CLIENTS } from "./clients.ts";
import { Delivered } from "./delivered.ts";
import { paceOf } from "./pace.ts";
import type { Client, ClientName, Consumption, Job, Place } from "./system.ts";

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
  // More jobs wait than are counted: the consumer stops when so many are finished. Jobs of all
  // turns so far may come.
  readonly isPart?: boolean;
}

const now = (): number => performance.timeOrigin + performance.now();

let client: Client;
let limiter: PQueue | undefined;
let turn: Turn = { first: 0, count: 0 };
let delivered = new Delivered(0, 0);
let consumption: Consumption | undefined;
let stopped: Promise<void> | undefined;
let left = 0;
let taken = 0;
let ended = Promise.withResolvers<void>();
let begun: Job[] = [];
let begunAt: number[] = [];
let fetchedEarly = 0;

function handle(job: Job): void | Promise<void> {
  delivered.mark(job.id);
  taken += 1;
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
  const { handlerMs } = turn;
  if (handlerMs !== undefined) return new Promise((resolve) => setTimeout(resolve, handlerMs));
}

function stored(count: number): void {
  left -= count;
  if (left > 0) return;
  if (turn.isPart === true) stopped ??= consumption?.stop();
  ended.resolve();
}

function expect(count: number): void {
  left = count;
  taken = 0;
  stopped = undefined;
  begun = [];
  begunAt = [];
  fetchedEarly = 0;
  ended = Promise.withResolvers();
  // A rejection is reported to the code that awaits this promise later.
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
    if (place.limitPerSecond !== undefined && !client.limits) {
      const intervalCap = (place.limitPerSecond * INTERVAL_MS) / 1000;
      limiter = new PQueue({ intervalCap, interval: INTERVAL_MS, strict: true });
    }
    return client.takenMax;
  },

  // Connects, and takes nothing yet.
  async ready(next: Turn) {
    turn = next;
    if (turn.isPart === true) delivered = delivered.grown(turn.first + turn.count);
    else delivered = new Delivered(turn.first, turn.count);
    expect(turn.count);
    const failed = (error: unknown): void => ended.reject(error);
    consumption = await client.consume({ handle, stored, failed });
  },

  async start() {
    await consumption!.start();
  },

  // Resolves when everything that was expected is finished for good.
  async finished() {
    await ended.promise;
    await client.settle?.();
    check(false);
  },

  // What came last: late and repeated jobs have had their time. Answers how many jobs came.
  async stop() {
    await (stopped ?? consumption?.stop());
    consumption = undefined;
    check(turn.isPart !== true);
    return taken;
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
    const early = limiter === undefined ? {} : { fetchedEarly };
    return { ...paceOf(begunAt.toSorted((a, b) => a - b)), ...early };
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

// One producer and one consumer of a system, in a process of their own.

import { setTimeout } from "node:timers/promises";
import { answer } from "../answer.ts";
import { keepInFlight } from "../embedded/load.ts";
import { CLIENTS } from "../peers/clients.ts";
import type { Client, ClientName, Consumption, Job, Place } from "../peers/system.ts";

const TEXT = "x".repeat(440);

let client: Client;
let consumption: Consumption | undefined;
let failure: unknown;
let seen = { jobs: 0, sum: 0 };
let stored = 0;
let onHandled: (job: Job) => void = () => {};

// What this consumer has finished; each id counts into the sum, so that a job that comes twice for
// one that is lost is noticed.
export interface Finished {
  readonly jobs: number;
  readonly sum: number;
}

function jobOf(id: number): Job {
  return { id, tenant: 0, at: performance.now(), text: TEXT };
}

function handle(job: Job): void {
  seen = { jobs: seen.jobs + 1, sum: seen.sum + job.id };
  onHandled(job);
}

answer({
  async open(name: ClientName, place: Place) {
    const { connect } = await CLIENTS[name]();
    client = await connect(place);
  },

  // It consumes only in its turn: an idle consumer asks the database now and then.
  async start() {
    const failed = (error: unknown): void => {
      failure ??= error;
    };
    const count = (jobs: number): void => {
      stored += jobs;
    };
    consumption = await client.consume({ handle, stored: count, failed });
    await consumption.start();
  },

  stop: () => consumption?.stop(),

  add(first: number, count: number) {
    const { jobs, inFlight } = client.bulk;
    let next = first;
    return keepInFlight(inFlight, Math.ceil(count / jobs), async () => {
      const batch: Job[] = [];
      for (const end = Math.min(first + count, next + jobs); next < end; )
        batch.push(jobOf(next++));
      await client.addBulk(batch);
    });
  },

  finished(): Finished {
    if (failure !== undefined) throw failure;
    return { jobs: Math.min(stored, seen.jobs), sum: seen.sum };
  },

  settle: () => client.settle?.(),

  // From the call of add to the handler, one job at a time with a rest between.
  async latencies(first: number, count: number, restMs: number) {
    const took: number[] = [];
    for (let id = first; id < first + count; id++) {
      const handled = Promise.withResolvers<number>();
      onHandled = () => handled.resolve(performance.now());
      const from = performance.now();
      await client.add(jobOf(id));
      took.push((await handled.promise) - from);
      await setTimeout(restMs);
    }
    onHandled = () => {};
    return took;
  },
});

// Finishes jobs of a server from a process of its own.

import { type Queue, Sluice, type Worker } from "sluice";
import { answer } from "../answer.ts";
import { percentileOf } from "../percentile.ts";
import { BATCH_JOBS, BULKS_IN_FLIGHT, QUEUE } from "./load.ts";

const CONCURRENCY = BULKS_IN_FLIGHT * BATCH_JOBS;

// One for each connection.
let queues: Queue<Uint8Array>[] = [];
let left = 0;
let run = Promise.withResolvers<void>();
let latencies: number[] | undefined;

function work(queue: Queue<Uint8Array>): Worker<Uint8Array, unknown> {
  const worker = queue.work(
    ({ payload }) => {
      if (latencies === undefined) return;
      const dueAt = new DataView(payload.buffer, payload.byteOffset).getFloat64(0, true);
      latencies.push(performance.timeOrigin + performance.now() - dueAt);
    },
    { concurrency: Math.ceil(CONCURRENCY / queues.length) },
  );
  worker.on("finished", () => {
    if (--left === 0) run.resolve();
  });
  worker.on("failed", ({ error }) => run.reject(error));
  worker.on("error", ({ error }) => run.reject(error));
  worker.on("lease-lost", ({ error }) => run.reject(error));
  return worker;
}

async function finish(jobs: number): Promise<void> {
  left = jobs;
  run = Promise.withResolvers();
  await run.promise;
}

answer({
  async open(url: string, works: boolean, connections: number) {
    const all = Array.from({ length: connections }, async () => {
      const sluice = await Sluice.connect(url, { client: "consumer" });
      return sluice.queue<Uint8Array>("jobs", QUEUE);
    });
    queues = await Promise.all(all);
    if (works) queues.forEach(work);
  },

  // Answers when this many more jobs are finished for good.
  finish,

  // Works until this many jobs are finished, and leaves the others where they are.
  async finishSome(jobs: number) {
    const workers = queues.map(work);
    await finish(jobs);
    await Promise.all(workers.map((worker) => worker.close()));
  },

  async finishTimed(jobs: number, shares: number[]) {
    latencies = [];
    left = jobs;
    run = Promise.withResolvers();
    await run.promise;
    const seen = latencies;
    latencies = undefined;
    return shares.map((share) => percentileOf(seen, share));
  },
});

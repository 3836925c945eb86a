// Finishes jobs of a server from a process of its own.

import { type Queue, Sluice, type Worker } from "sluice";
import { answer } from "../answer.ts";
import { percentileOf } from "../percentile.ts";
import { BATCH_JOBS, BULKS_IN_FLIGHT, QUEUE } from "./load.ts";

const CONCURRENCY = BULKS_IN_FLIGHT * BATCH_JOBS;

let queue: Queue<Uint8Array>;
let worker: Worker<Uint8Array, unknown> | undefined;
let left = 0;
let run = Promise.withResolvers<void>();
let latencies: number[] | undefined;

function work(): void {
  worker = queue.work(
    ({ payload }) => {
      if (latencies === undefined) return;
      const dueAt = new DataView(payload.buffer, payload.byteOffset).getFloat64(0, true);
      latencies.push(performance.timeOrigin + performance.now() - dueAt);
    },
    { concurrency: CONCURRENCY },
  );
  worker.on("finished", () => {
    if (--left === 0) run.resolve();
  });
  worker.on("failed", ({ error }) => run.reject(error));
  worker.on("error", ({ error }) => run.reject(error));
  worker.on("lease-lost", ({ error }) => run.reject(error));
}

answer({
  async open(url: string, works: boolean) {
    const sluice = await Sluice.connect(url, { client: "consumer" });
    queue = await sluice.queue<Uint8Array>("jobs", QUEUE);
    if (works) work();
  },

  // Answers when this many more jobs are finished for good.
  async finish(jobs: number) {
    left = jobs;
    run = Promise.withResolvers();
    await run.promise;
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

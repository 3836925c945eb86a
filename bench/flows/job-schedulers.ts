// Jobs that schedules make and workers finish, beside the job schedulers of BullMQ: as many
// schedules of one second as neither keeps up with, and what is finished in the same time.

import { chmodSync } from "node:fs";
import { type ConnectionOptions, Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { Sluice } from "sluice";
import type { Group } from "../figure.ts";
import { startRedis } from "../peers/servers/redis.ts";
import { Scratch } from "../scratch.ts";

const SCHEDULES = 100_000;
const EVERY_MS = 1000;
const MEASURED_MS = 10_000;
const IN_FLIGHT = 500;
const CONCURRENCY = 500;
const WORKERS = 4;
const FACTOR = 5;

export const jobSchedulers: Group = {
  name: "job schedulers",
  run: async ({ size }) => {
    using scratch = new Scratch();
    // Peers run under another user, who must get to their directories.
    chmodSync(scratch.dir, 0o711);
    const count = size(SCHEDULES);
    const own = await sluiceRate(scratch.fresh(), count);
    const { rate: theirs, version } = await bullRate(scratch.fresh(), count);
    const conditions = {
      schedules: count,
      everyMs: EVERY_MS,
      durability: "Sluice fsync, Redis appendfsync always",
      peer: version,
      disk: scratch.disk,
    };
    const metric = "jobs of schedules finished";
    return [
      { metric: `${metric}, Sluice`, value: own, unit: "jobs/s", conditions },
      { metric: `${metric}, BullMQ`, value: theirs, unit: "jobs/s", conditions },
      {
        metric: `${metric}, Sluice ÷ BullMQ`,
        value: own / theirs,
        unit: "×",
        conditions,
        target: { atLeast: FACTOR },
      },
    ];
  },
};

// Some at a time, so that neither side waits for one answer after the other.
async function inParts(count: number, call: (n: number) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < count; i += IN_FLIGHT) {
    const some = Array.from({ length: Math.min(IN_FLIGHT, count - i) }, (_, j) => call(i + j));
    await Promise.all(some);
  }
}

// What is finished while both are at work, after a while to begin.
async function rateOf(finished: () => Promise<number>): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 2 * EVERY_MS));
  const [before, began] = [await finished(), performance.now()];
  await new Promise((resolve) => setTimeout(resolve, MEASURED_MS));
  return (((await finished()) - before) * 1000) / (performance.now() - began);
}

async function sluiceRate(dir: string, count: number): Promise<number> {
  await using sluice = await Sluice.open({ dir });
  const queue = await sluice.queue("q", { results: { jobs: 0 } });
  queue.work(() => {}, { concurrency: WORKERS * CONCURRENCY });
  await inParts(count, (n) =>
    sluice.broker.setSchedule("q", `s${n}`, { every: EVERY_MS, payload: { n } }),
  );
  return await rateOf(async () => (await queue.stats()).finished);
}

async function bullRate(dir: string, count: number): Promise<{ rate: number; version: string }> {
  const { server, address, version } = await startRedis(dir, "sync");
  await using _ = server;
  const { hostname, port } = new URL(address);
  const redis = Array.from({ length: WORKERS + 1 }, () => {
    return new Redis(Number(port), hostname, { maxRetriesPerRequest: null });
  });
  const connections = redis as unknown as ConnectionOptions[];
  const queue = new Queue("q", { connection: connections[0]! });
  let finished = 0;
  const workers = connections.slice(1).map((connection) => {
    const removed = { removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } };
    const options = { connection, concurrency: CONCURRENCY, ...removed };
    const worker = new Worker("q", async () => {}, options);
    worker.on("completed", () => void finished++);
    return worker;
  });
  await inParts(count, (n) =>
    queue.upsertJobScheduler(`s${n}`, { every: EVERY_MS }, { name: "job", data: { n } }),
  );
  const rate = await rateOf(async () => finished);
  // A worker that is closed in the middle of a job says so for each of them.
  for (const worker of workers) worker.on("error", () => {});
  await Promise.all(workers.map((worker) => worker.close(true)));
  await queue.close();
  for (const one of redis) one.disconnect();
  return { rate, version: `BullMQ on ${version}` };
}

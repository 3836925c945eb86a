import { type ConnectionOptions, Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import type { Client, Consumer, Job, Place } from "../system.ts";

const BATCH_JOBS = 1000;
const BULKS_IN_FLIGHT = 4;
const CONCURRENCY = 200;
// A finished job is gone, as with the others.
const REMOVED = { removeOnComplete: true, removeOnFail: true };

export async function connect(place: Place): Promise<Client> {
  const { hostname, port } = new URL(place.address);
  const open = (): ConnectionOptions =>
    new Redis(Number(port), hostname, { maxRetriesPerRequest: null }) as ConnectionOptions;
  const connection = open();
  const queue = new Queue<Job>(place.queue, { connection, defaultJobOptions: REMOVED });
  await queue.waitUntilReady();
  const max = place.limitPerSecond;
  return {
    bulk: { jobs: BATCH_JOBS, inFlight: BULKS_IN_FLIGHT },
    limits: true,

    async addBulk(jobs) {
      await queue.addBulk(jobs.map((data) => ({ name: "job", data })));
    },

    async add(job) {
      await queue.add("job", job);
    },

    async consume({ handle, stored, failed }: Consumer) {
      const worker = new Worker<Job>(place.queue, async ({ data }) => handle(data), {
        connection: open(),
        concurrency: place.concurrency ?? CONCURRENCY,
        ...REMOVED_BY_WORKER,
        ...(max === undefined ? {} : { limiter: { max, duration: 1000 } }),
      });
      worker.on("completed", () => stored(1));
      worker.on("failed", (_job, error) => failed(error));
      worker.on("error", failed);
      await worker.waitUntilReady();
      return () => worker.close();
    },
  };
}

const REMOVED_BY_WORKER = { removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } };

import { type ConnectionOptions, Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import type { Client, Consumer, Consumption, Job, Place } from "../system.ts";

const BATCH_JOBS = 1000;
const BULKS_IN_FLIGHT = 4;
// A worker fetches one job after the other: several are what its manual recommends, and 50 jobs at
// a time is what it shows for one (docs.bullmq.io/guide/workers/concurrency).
const WORKERS = 4;
const CONCURRENCY = 200;
// A finished job is gone, as with the others.
const REMOVED = { removeOnComplete: true, removeOnFail: true };
const REMOVED_BY_WORKER = { removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } };

export async function connect(place: Place): Promise<Client> {
  const { hostname, port } = new URL(place.address);
  const open = (): ConnectionOptions =>
    new Redis(Number(port), hostname, { maxRetriesPerRequest: null }) as ConnectionOptions;
  const connection = open();
  const queue = new Queue<Job>(place.queue, { connection, defaultJobOptions: REMOVED });
  await queue.waitUntilReady();
  // A worker leaves open what it was given: the next one takes it.
  const connections: ConnectionOptions[] = [];
  return {
    bulk: { jobs: BATCH_JOBS, inFlight: BULKS_IN_FLIGHT },
    takenMax: place.concurrency ?? CONCURRENCY,
    limits: true,

    async addBulk(jobs) {
      await queue.addBulk(jobs.map((data) => ({ name: "job", data })));
    },

    async add(job) {
      await queue.add("job", job);
    },

    consume(consumer) {
      const count = place.isLatency ? 1 : WORKERS;
      while (connections.length < count) connections.push(open());
      return work(place, connections, consumer);
    },
  };
}

async function work(
  { queue, concurrency = CONCURRENCY, limitPerSecond }: Place,
  connections: readonly ConnectionOptions[],
  { handle, stored, failed }: Consumer,
): Promise<Consumption> {
  const limiter =
    limitPerSecond === undefined ? {} : { limiter: { max: limitPerSecond, duration: 1000 } };
  const workers = connections.map((connection) => {
    const worker = new Worker<Job>(queue, async ({ data }) => handle(data), {
      connection,
      concurrency: Math.ceil(concurrency / connections.length),
      autorun: false,
      ...REMOVED_BY_WORKER,
      ...limiter,
    });
    worker.on("completed", () => stored(1));
    worker.on("failed", (_job, error) => failed(error));
    worker.on("error", failed);
    return worker;
  });
  await Promise.all(workers.map((worker) => worker.waitUntilReady()));
  return {
    start() {
      for (const worker of workers) worker.run().catch(failed);
    },
    async stop() {
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };
}

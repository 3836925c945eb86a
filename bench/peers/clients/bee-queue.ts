import BeeQueue from "bee-queue";
import type { Client, Consumer, Job, Place } from "../system.ts";

const BATCH_JOBS = 1000;
const BULKS_IN_FLIGHT = 4;
const CONCURRENCY = 200;
const STOP_MS = 5000;

export async function connect(place: Place): Promise<Client> {
  const { hostname, port } = new URL(place.address);
  // Its manual turns these off for speed. This bench does not wait for events of jobs.
  const settings = {
    redis: { host: hostname, port: Number(port) },
    getEvents: false,
    sendEvents: false,
    storeJobs: false,
    activateDelayedJobs: false,
    removeOnSuccess: true,
  };
  const queue = new BeeQueue<Job>(place.queue, { ...settings, isWorker: false });
  await queue.ready();
  const concurrency = place.concurrency ?? CONCURRENCY;
  return {
    bulk: { jobs: BATCH_JOBS, inFlight: BULKS_IN_FLIGHT },
    takenMax: concurrency,
    limits: false,

    async addBulk(jobs) {
      const errors = await queue.saveAll(jobs.map((job) => queue.createJob(job)));
      for (const error of errors.values()) throw error;
    },

    async add(job) {
      await queue.createJob(job).save();
    },

    async consume({ handle, stored, failed }: Consumer) {
      const worker = new BeeQueue<Job>(place.queue, settings);
      worker.on("succeeded", () => stored(1));
      worker.on("failed", (_job, error) => failed(error));
      worker.on("error", failed);
      await worker.ready();
      return {
        start: () => worker.process(concurrency, async ({ data }) => handle(data)),
        stop: () => worker.close(STOP_MS),
      };
    },
  };
}

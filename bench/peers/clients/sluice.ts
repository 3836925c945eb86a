import { type BulkItem, Sluice, SluiceError, type Worker } from "sluice";
import type { Client, Consumer, Job, Place } from "../system.ts";

// As in the library's own benchmark (embedded/load.ts), where of 2, 4, 8 and 16 in flight 8 had the
// highest median.
const BATCH_JOBS = 1000;
const BULKS_IN_FLIGHT = 8;
const GATE = "shared";
// Smooth, and never more than the limit in any second.
const BURST = 50;

export async function connect(place: Place): Promise<Client> {
  const sluice = await Sluice.connect(place.address);
  const limit = place.limitPerSecond;
  if (limit !== undefined) {
    const windows = [{ limit, per: 1000 }];
    await sluice.gate(GATE).set({ rate: limit, burst: BURST, windows });
  }
  const queue = await sluice.queue<Job>(place.queue, {
    capacity: { jobs: 100_000_000, bytes: 1e12 },
    lease: "1h",
  });
  const item = (payload: Job): BulkItem<Job> => {
    if (limit !== undefined) return { payload, fairnessKey: String(payload.tenant), gates: [GATE] };
    return place.isFair ? { payload, fairnessKey: String(payload.tenant) } : { payload };
  };
  const concurrency = place.concurrency ?? BATCH_JOBS * BULKS_IN_FLIGHT;
  return {
    bulk: { jobs: BATCH_JOBS, inFlight: BULKS_IN_FLIGHT },
    takenMax: concurrency,
    limits: true,

    async addBulk(jobs) {
      const answers = await queue.addBulk(jobs.map(item));
      for (const answer of answers) if (answer instanceof SluiceError) throw answer;
    },

    async add(job) {
      const { payload, ...options } = item(job);
      await queue.add(payload, options);
    },

    async consume({ handle, stored, failed }: Consumer) {
      let worker: Worker<Job, unknown> | undefined;
      return {
        start() {
          worker = queue.work(({ payload }) => handle(payload), { concurrency });
          worker.on("finished", () => stored(1));
          worker.on("failed", ({ error }) => failed(error));
          worker.on("error", ({ error }) => failed(error));
          worker.on("lease-lost", ({ error }) => failed(error));
        },
        stop: async () => worker?.close(),
      };
    },
  };
}

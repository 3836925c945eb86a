// Adds jobs to a cluster from a process of its own.

import { type JobOptions, type Queue, type QueueOptions, Sluice, SluiceError } from "sluice";
import { answer } from "../answer.ts";
import { keepInFlight } from "../embedded/load.ts";
import { percentileOf } from "../percentile.ts";
import { BATCH_JOBS, BULKS_IN_FLIGHT, PAYLOAD_BYTES, QUEUE, SINGLES_IN_FLIGHT } from "./load.ts";

const payload = Buffer.alloc(PAYLOAD_BYTES, 7);

let sluice: Sluice;
let queues: Queue<Uint8Array>[] = [];
const ids: string[] = [];
let at = 0;

const nextQueue = (): Queue<Uint8Array> => queues[at++ % queues.length]!;

interface BulkOptions extends JobOptions {
  // Jobs go to so many lanes in turn.
  lanes?: number;
}

async function addBatch({ lanes, ...options }: BulkOptions): Promise<void> {
  const items = Array.from({ length: BATCH_JOBS }, (_, i) => {
    const lane = lanes === undefined ? {} : { fairnessKey: `lane-${i % lanes}` };
    return { payload, ...options, ...lane };
  });
  for (const job of await nextQueue().addBulk(items)) {
    if (job instanceof SluiceError) throw job;
    ids.push(job.id);
  }
}

async function addOne(): Promise<void> {
  ids.push((await nextQueue().add(payload)).id);
}

const CALLS = {
  add: addOne,
  stats: async (): Promise<void> => void (await nextQueue().stats()),
};

answer({
  async open(urls: string | string[], names: readonly string[], more: QueueOptions = {}) {
    await sluice?.close();
    sluice = await Sluice.connect(urls, { client: "producer" });
    const options = { ...QUEUE, ...more };
    queues = await Promise.all(names.map((name) => sluice.queue<Uint8Array>(name, options)));
  },

  bulk: (jobs: number, options: BulkOptions = {}) =>
    keepInFlight(BULKS_IN_FLIGHT, jobs / BATCH_JOBS, () => addBatch(options)),

  singles: (jobs: number) => keepInFlight(SINGLES_IN_FLIGHT, jobs, addOne),

  // The median of how long each call takes, one at a time, in milliseconds.
  async alone(call: keyof typeof CALLS, count: number) {
    const tookMs: number[] = [];
    for (let i = 0; i < count; i++) {
      const from = performance.now();
      await CALLS[call]();
      tookMs.push(performance.now() - from);
    }
    return percentileOf(tookMs, 0.5);
  },

  together: (call: keyof typeof CALLS, count: number, inFlight: number) =>
    keepInFlight(inFlight, count, CALLS[call]),

  setGate: (key: string, rate: number, burst: number) => sluice.gate(key).set({ rate, burst }),

  // Of all that was added since the last question.
  ids: () => ids.splice(0),
});

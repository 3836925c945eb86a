// Adds jobs to a server from a process of its own.

import { type BulkItem, type Queue, Sluice, SluiceError } from "sluice";
import { answer } from "../answer.ts";
import { keepInFlight } from "../embedded/load.ts";
import { BATCH_JOBS, BULKS_IN_FLIGHT, QUEUE } from "./load.ts";

// Coprime to the powers of ten that count the lanes, and too long a step to be guessed.
const STRIDE = 618_033_987;

// One for each connection.
let queues: Queue<Uint8Array>[] = [];
let calls = 0;
let payloads: Uint8Array[] = [];
let keys: string[] = [];
let at = 0;

function nextQueue(): Queue<Uint8Array> {
  return queues[calls++ % queues.length]!;
}

function item(): BulkItem<Uint8Array> {
  at = (at + 1) % (payloads.length * keys.length);
  const payload = payloads[at % payloads.length]!;
  return { payload, fairnessKey: keys[(at * STRIDE) % keys.length]! };
}

async function addBatch(count: number): Promise<void> {
  const answers = await nextQueue().addBulk(Array.from({ length: count }, item));
  for (const outcome of answers) if (outcome instanceof SluiceError) throw outcome;
}

// The next add does not wait for the previous one. Each job carries the time at which it was due.
async function openLoop(jobs: number, perSecond: number): Promise<void> {
  const gapMs = 1000 / perSecond;
  const beginAt = performance.now() + gapMs;
  const adds: Promise<unknown>[] = [];
  for (let sent = 0; sent < jobs; ) {
    const due = Math.min(jobs, Math.floor((performance.now() - beginAt) / gapMs) + 1);
    for (; sent < due; sent++) {
      const payload = Buffer.from(payloads[sent % payloads.length]!);
      payload.writeDoubleLE(performance.timeOrigin + beginAt + sent * gapMs, 0);
      adds.push(nextQueue().add(payload, { fairnessKey: keys[sent % keys.length]! }));
    }
    // A turn's adds travel together; a producer that never rests would take the server's processor.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(adds);
}

// Each carries the time of its call.
async function spaced(jobs: number, restMs: number): Promise<void> {
  for (let sent = 0; sent < jobs; sent++) {
    const payload = Buffer.from(payloads[sent % payloads.length]!);
    payload.writeDoubleLE(performance.timeOrigin + performance.now(), 0);
    await nextQueue().add(payload, { fairnessKey: keys[sent % keys.length]! });
    await new Promise((resolve) => setTimeout(resolve, restMs));
  }
}

answer({
  async open(url: string, payloadBytes: number, lanes: number, connections: number) {
    const all = Array.from({ length: connections }, async () => {
      const sluice = await Sluice.connect(url, { client: "producer" });
      return sluice.queue<Uint8Array>("jobs", QUEUE);
    });
    queues = await Promise.all(all);
    payloads = Array.from({ length: 1000 }, (_, index) => Buffer.alloc(payloadBytes, index));
    keys = Array.from({ length: lanes }, (_, lane) => `t${String(lane).padStart(7, "0")}`);
  },

  bulk: (jobs: number) =>
    keepInFlight(BULKS_IN_FLIGHT, jobs / BATCH_JOBS, () => addBatch(BATCH_JOBS)),

  singles: (jobs: number, inFlight: number) =>
    keepInFlight(inFlight, jobs, async () => {
      const { payload, ...options } = item();
      await nextQueue().add(payload, options);
    }),

  openLoop,
  spaced,
});

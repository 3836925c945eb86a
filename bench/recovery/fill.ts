// Puts waiting jobs into a directory, through the library.

import { type BulkItem, Sluice, SluiceError } from "sluice";
import { keepInFlight } from "../embedded/load.ts";

const BATCH_JOBS = 1000;
const IN_FLIGHT = 4;
const LANES = 1000;

export interface Filling {
  readonly dir: string;
  readonly queue: string;
  readonly jobs: number;
  readonly payloadBytes: number;
}

export interface Filled {
  readonly ms: number;
  // Of this process, all jobs waiting, before it is closed.
  readonly rssBytes: number;
}

export async function fill({ dir, queue, jobs, payloadBytes }: Filling): Promise<Filled> {
  await using sluice = await Sluice.open({ dir });
  const capacity = { jobs: 2 * jobs, bytes: 1e12 };
  const waiting = await sluice.queue<Uint8Array>(queue, { codec: "bytes", capacity });
  const items = Array.from({ length: BATCH_JOBS }, (_, index): BulkItem<Uint8Array> => {
    const fairnessKey = `t${String(index % LANES).padStart(7, "0")}`;
    return { payload: Buffer.alloc(payloadBytes, index), fairnessKey };
  });
  const from = performance.now();
  await keepInFlight(IN_FLIGHT, jobs / BATCH_JOBS, async () => {
    for (const answer of await waiting.addBulk(items)) {
      if (answer instanceof SluiceError) throw answer;
    }
  });
  const ms = performance.now() - from;
  globalThis.gc?.();
  return { ms, rssBytes: process.memoryUsage.rss() };
}

// Latency under a load that does not wait: adds are made at times set beforehand, and a job that is
// late because the one before it was late counts from its own time all the same.

import type { Durability } from "sluice";
import type { Conditions, Figure, Scale } from "../figure.ts";
import { percentileOf } from "../percentile.ts";
import { figureOf, repeat } from "../spread.ts";
import { PAYLOAD_BYTES } from "./jobs.ts";
import type { EmbeddedLoad } from "./load.ts";

const SECONDS = 5;
const SECONDS_QUICK = 1;

export interface HalfLoad {
  readonly load: EmbeddedLoad;
  readonly scale: Scale;
  readonly perSecond: number;
}

export async function openLoopFigures(
  { load, scale, perSecond }: HalfLoad,
  durability: Durability,
  conditions: Conditions,
): Promise<Figure[]> {
  const seconds = scale.isQuick ? SECONDS_QUICK : SECONDS;
  const jobsPerRun = Math.round(perSecond * seconds);
  await openLoop(load, jobsPerRun, perSecond);
  const runs = await repeat(scale.runs, () => openLoop(load, jobsPerRun, perSecond));
  const told = {
    ...conditions,
    clock: "open loop: from the time an add was due to its handler's begin",
    addsPerSecond: Math.round(perSecond),
    load: "half of the highest median of single adds in this process, at even distances",
    jobsPerRun,
  };
  return [0.5, 0.99].map((share) => {
    const metric = `add → handler at half of the load, ${durability}, p${share * 100}`;
    const values = runs.map((latencies) => percentileOf(latencies, share));
    return figureOf(metric, "ms", values, told);
  });
}

// Milliseconds of each job.
async function openLoop(
  load: EmbeddedLoad,
  jobs: number,
  perSecond: number,
): Promise<Float64Array> {
  const latencies = new Float64Array(jobs);
  const finished = load.finished(jobs);
  const gapMs = 1000 / perSecond;
  const beginAt = performance.now() + gapMs;
  load.onHandled = (payload) => {
    const index = (payload as Buffer).readUInt32LE(0);
    latencies[index] = performance.now() - (beginAt + index * gapMs);
  };
  let failure: unknown;
  for (let sent = 0; sent < jobs && failure === undefined; ) {
    const due = Math.min(jobs, Math.floor((performance.now() - beginAt) / gapMs) + 1);
    for (; sent < due; sent++) {
      load.add(numbered(sent)).catch((error: unknown) => {
        failure = error;
      });
    }
    // A timer would be up to a millisecond late: the loop turns until the next add is due.
    await new Promise(setImmediate);
  }
  if (failure !== undefined) throw failure;
  await finished;
  load.onHandled = () => {};
  return latencies;
}

export function numbered(index: number): Buffer {
  const payload = Buffer.alloc(PAYLOAD_BYTES);
  payload.writeUInt32LE(index, 0);
  return payload;
}

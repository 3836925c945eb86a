// Add + work + ack over the network: in batches, one by one, and how long a job takes at half of
// the load that one by one can carry.

import type { Figure, Group, Scale } from "../figure.ts";
import { rounded, spreadConditions, spreadOf } from "../spread.ts";
import { BATCH_JOBS, BULKS_IN_FLIGHT, StreamLoad } from "./load.ts";

const PAYLOAD_BYTES = 512;
const LANES = 10;
const BULK_JOBS = 500_000;
const BULK_TARGET = { atLeast: 100_000 };
const SINGLES = [
  { name: "1 single add", inFlight: 1, jobs: 2000 },
  { name: "64 single adds", inFlight: 64, jobs: 50_000 },
  { name: "1,000 single adds", inFlight: 1000, jobs: 100_000 },
] as const;
const SHARES = [0.5, 0.9, 0.99];
const SECONDS = 5;
const SECONDS_QUICK = 1;

export const throughputGroups: readonly Group[] = [
  {
    name: "lifecycle",
    run: async (scale, report) => {
      const figure = await measureBulk(scale, PAYLOAD_BYTES, LANES);
      report({ ...figure, metric: "add + work + ack, fsync, bulk", target: BULK_TARGET });
    },
  },
  { name: "singles", run: measureSingles },
];

export async function measureBulk(
  scale: Scale,
  payloadBytes: number,
  lanes: number,
): Promise<Omit<Figure, "metric">> {
  await using load = await StreamLoad.open({ payloadBytes, lanes });
  const jobsPerRun = scale.size(BULK_JOBS);
  // The compiler has seen everything before anything is counted.
  await load.bulk(jobsPerRun);
  const speeds: number[] = [];
  const cpu: StreamLoad["cpuMicrosPerJob"][] = [];
  for (let run = 0; run < scale.runs; run++) {
    speeds.push(await load.bulk(jobsPerRun));
    cpu.push(load.cpuMicrosPerJob);
  }
  const spread = spreadOf(speeds);
  const median = (of: (one: StreamLoad["cpuMicrosPerJob"]) => number): number =>
    rounded(spreadOf(cpu.map(of)).median);
  return {
    value: rounded(spread.median),
    unit: "jobs/s",
    conditions: {
      ...load.conditions,
      added: `addBulk of ${BATCH_JOBS}, ${BULKS_IN_FLIGHT} in flight`,
      clock: "from the first add to the last ack confirmed",
      serverCpuMicrosPerJob: median(({ server }) => server),
      producerCpuMicrosPerJob: median(({ producer }) => producer),
      consumerCpuMicrosPerJob: median(({ consumer }) => consumer),
      jobsPerRun,
      runs: scale.runs,
      ...spreadConditions(spread),
    },
  };
}

async function measureSingles(scale: Scale, report: (figure: Figure) => void): Promise<void> {
  await using load = await StreamLoad.open({ payloadBytes: PAYLOAD_BYTES, lanes: LANES });
  let highest = 0;
  for (const { name, inFlight, jobs } of SINGLES) {
    const jobsPerRun = scale.size(jobs);
    await load.singles(jobsPerRun, inFlight);
    const speeds: number[] = [];
    for (let run = 0; run < scale.runs; run++) {
      speeds.push(await load.singles(jobsPerRun, inFlight));
    }
    const spread = spreadOf(speeds);
    highest = Math.max(highest, spread.median);
    report({
      metric: `add + work + ack, fsync, ${name} in flight`,
      value: rounded(spread.median),
      unit: "jobs/s",
      conditions: { ...load.conditions, jobsPerRun, runs: scale.runs, ...spreadConditions(spread) },
    });
  }
  await measureLatency(load, scale, highest / 2, report);
}

async function measureLatency(
  load: StreamLoad,
  scale: Scale,
  perSecond: number,
  report: (figure: Figure) => void,
): Promise<void> {
  const jobsPerRun = Math.round(perSecond * (scale.isQuick ? SECONDS_QUICK : SECONDS));
  await load.latencies(jobsPerRun, perSecond, SHARES);
  const runs: number[][] = [];
  for (let run = 0; run < scale.runs; run++) {
    runs.push(await load.latencies(jobsPerRun, perSecond, SHARES));
  }
  for (const [index, share] of SHARES.entries()) {
    const spread = spreadOf(runs.map((shares) => shares[index]!));
    report({
      metric: `add → handler at half of the load, fsync, p${share * 100}`,
      value: rounded(spread.median),
      unit: "ms",
      conditions: {
        ...load.conditions,
        clock: "open loop: from the time an add was due to its handler's begin",
        addsPerSecond: Math.round(perSecond),
        jobsPerRun,
        runs: scale.runs,
        ...spreadConditions(spread),
      },
    });
  }
}

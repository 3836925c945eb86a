// Add + work + ack over the network: in batches, one by one, and how long a job takes at half of
// the load that one by one can carry. And what a job that waits takes of the server's memory.

import type { Figure, Group, Report, Scale } from "../figure.ts";
import { figureOf, repeat, rounded, spreadOf } from "../spread.ts";
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
const KILOBYTE = 1024;
const WAITING_JOBS_MIN = 100_000;
// Where the payloads of those that wait are.
const WAITING = [
  {
    name: "memory",
    jobs: 400_000,
    payloadMemoryBytes: 2 ** 30,
    where: "all in memory",
    target: { atMost: 1150 },
  },
  { name: "default", jobs: 1_000_000, where: "beyond the default of 256 MiB in the log" },
  { name: "log", jobs: 1_000_000, payloadMemoryBytes: 2 ** 24, where: "beyond 16 MiB in the log" },
] as const;
type Waiting = (typeof WAITING)[number];

export const throughputGroups: readonly Group[] = [
  {
    name: "lifecycle",
    run: async (scale) => ({ ...(await measureBulk(scale)), target: BULK_TARGET }),
  },
  { name: "singles", run: measureSingles },
  ...WAITING.map((waiting) => ({
    name: `bytes-per-message-${waiting.name}`,
    run: (scale: Scale) => measureMemory(scale, waiting),
  })),
];

async function measureBulk(scale: Scale): Promise<Figure> {
  await using load = await StreamLoad.open({ payloadBytes: PAYLOAD_BYTES, lanes: LANES });
  const jobsPerRun = scale.size(BULK_JOBS);
  // The compiler has seen everything before anything is counted.
  await load.bulk(jobsPerRun);
  const { speeds, cpu } = await repeated(load, scale, () => load.bulk(jobsPerRun));
  return figureOf("add + work + ack, fsync, bulk", "jobs/s", speeds, {
    ...load.conditions,
    added: `addBulk of ${BATCH_JOBS}, ${BULKS_IN_FLIGHT} in flight`,
    clock: "from the first add to the last ack confirmed",
    ...cpu,
    jobsPerRun,
  });
}

// Speeds, and the median of the processor time that a job took in each process.
async function repeated(load: StreamLoad, scale: Scale, run: () => Promise<number>) {
  const all: StreamLoad["cpuMicrosPerJob"][] = [];
  const speeds = await repeat(scale.runs, async () => {
    const speed = await run();
    all.push(load.cpuMicrosPerJob);
    return speed;
  });
  const median = (of: (one: StreamLoad["cpuMicrosPerJob"]) => number): number =>
    rounded(spreadOf(all.map(of)).median);
  const cpu = {
    serverCpuMicrosPerJob: median(({ server }) => server),
    producerCpuMicrosPerJob: median(({ producer }) => producer),
    consumerCpuMicrosPerJob: median(({ consumer }) => consumer),
  };
  return { speeds, cpu };
}

async function measureSingles(scale: Scale, report: Report): Promise<void> {
  await using load = await StreamLoad.open({ payloadBytes: PAYLOAD_BYTES, lanes: LANES });
  let highest = 0;
  for (const { name, inFlight, jobs } of SINGLES) {
    const jobsPerRun = scale.size(jobs);
    await load.singles(jobsPerRun, inFlight);
    const { speeds, cpu } = await repeated(load, scale, () => load.singles(jobsPerRun, inFlight));
    highest = Math.max(highest, spreadOf(speeds).median);
    const metric = `add + work + ack, fsync, ${name} in flight`;
    report(figureOf(metric, "jobs/s", speeds, { ...load.conditions, ...cpu, jobsPerRun }));
  }
  await measureLatency(load, scale, highest / 2, report);
}

async function measureLatency(
  load: StreamLoad,
  scale: Scale,
  perSecond: number,
  report: Report,
): Promise<void> {
  const jobsPerRun = Math.round(perSecond * (scale.isQuick ? SECONDS_QUICK : SECONDS));
  await load.latencies(jobsPerRun, perSecond, SHARES);
  const runs = await repeat(scale.runs, () => load.latencies(jobsPerRun, perSecond, SHARES));
  const conditions = {
    ...load.conditions,
    clock: "open loop: from the time an add was due to its handler's begin",
    addsPerSecond: Math.round(perSecond),
    jobsPerRun,
  };
  for (const [index, share] of SHARES.entries()) {
    const metric = `add → handler at half of the load, fsync, p${share * 100}`;
    const values = runs.map((shares) => shares[index]!);
    report(figureOf(metric, "ms", values, conditions));
  }
}

async function measureMemory(scale: Scale, waiting: Waiting): Promise<Figure> {
  const jobs = Math.max(WAITING_JOBS_MIN, scale.size(waiting.jobs));
  const own = "payloadMemoryBytes" in waiting ? waiting : {};
  const options = { payloadBytes: KILOBYTE, lanes: LANES, works: false, ...own };
  await using load = await StreamLoad.open(options);
  // What the first jobs cost is not of the others: tables and buffers of their own size.
  await load.producer.ask("bulk", WAITING_JOBS_MIN);
  const before = await load.server.ask<number>("memoryBytes");
  await load.producer.ask("bulk", jobs);
  const after = await load.server.ask<number>("memoryBytes");
  return {
    metric: `memory of the server for a waiting message of 1 KB, payloads ${waiting.where}`,
    value: rounded((after - before) / jobs),
    unit: "bytes",
    ...("target" in waiting ? { target: waiting.target } : {}),
    conditions: {
      ...load.conditions,
      jobs,
      how: "growth of the resident set beyond that with 100,000 messages",
    },
  };
}

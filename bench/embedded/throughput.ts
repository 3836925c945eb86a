// Add + work + ack through the library: in batches, and one by one with more or fewer in flight.

import type { Durability } from "sluice";
import type { Figure, Group, Report, Scale } from "../figure.ts";
import { Scratch } from "../scratch.ts";
import { figureOf, repeat, rounded, spreadOf } from "../spread.ts";
import type { Shape } from "./jobs.ts";
import { BATCH_JOBS, BULKS_IN_FLIGHT, EmbeddedLoad } from "./load.ts";
import { openLoopFigures } from "./open-loop.ts";

export const DURABILITIES = ["fsync", "os", "memory"] as const satisfies readonly Durability[];

const BULK_JOBS = 500_000;
const BULK_TARGET = { atLeast: 150_000 };
// Each about a second's work: with one add in flight a sync has no company.
const SINGLES = [
  { name: "1 single add", inFlight: 1, jobs: 2000 },
  { name: "64 single adds", inFlight: 64, jobs: 50_000 },
  { name: "1,000 single adds", inFlight: 1000, jobs: 100_000 },
] as const;

export const throughputGroups: readonly Group[] = [
  bulkGroup("fsync", "bytes"),
  bulkGroup("fsync", "json"),
  bulkGroup("os", "bytes"),
  bulkGroup("memory", "bytes"),
  ...DURABILITIES.map((durability) => ({
    name: `singles-${durability}`,
    run: (scale: Scale, report: Report) => measureSingles(scale, durability, report),
  })),
];

function bulkGroup(durability: Durability, shape: Shape): Group {
  return {
    name: `bulk-${durability}-${shape}`,
    run: async (scale) => {
      const figure = await measureBulk(scale, durability, shape);
      return durability === "fsync" ? { ...figure, target: BULK_TARGET } : figure;
    },
  };
}

async function measureBulk(scale: Scale, durability: Durability, shape: Shape): Promise<Figure> {
  using scratch = new Scratch();
  await using load = await EmbeddedLoad.open({ durability, shape, ...place(scratch, durability) });
  const jobsPerRun = scale.size(BULK_JOBS);
  // The compiler has seen everything before anything is counted.
  await load.bulk(jobsPerRun);
  const cpuMicros: number[] = [];
  const speeds = await repeat(scale.runs, async () => {
    const speed = await load.bulk(jobsPerRun);
    cpuMicros.push(load.cpuMicrosPerJob);
    return speed;
  });
  const metric = `add + work + ack, ${durability}, bulk${shape === "json" ? ", JSON" : ""}`;
  return figureOf(metric, "jobs/s", speeds, {
    ...loadConditions(scratch, durability, load),
    added: `addBulk of ${BATCH_JOBS}, ${BULKS_IN_FLIGHT} in flight`,
    jobsPerRun,
    cpuMicrosPerJob: rounded(spreadOf(cpuMicros).median),
  });
}

async function measureSingles(scale: Scale, durability: Durability, report: Report): Promise<void> {
  using scratch = new Scratch();
  await using load = await EmbeddedLoad.open({ durability, ...place(scratch, durability) });
  const conditions = loadConditions(scratch, durability, load);
  let highest = 0;
  for (const { name, inFlight, jobs } of SINGLES) {
    const jobsPerRun = scale.size(jobs);
    await load.singles(jobsPerRun, inFlight);
    const cpuMicros: number[] = [];
    const speeds = await repeat(scale.runs, async () => {
      const speed = await load.singles(jobsPerRun, inFlight);
      cpuMicros.push(load.cpuMicrosPerJob);
      return speed;
    });
    highest = Math.max(highest, spreadOf(speeds).median);
    const metric = `add + work + ack, ${durability}, ${name} in flight`;
    const cpuMicrosPerJob = rounded(spreadOf(cpuMicros).median);
    report(figureOf(metric, "jobs/s", speeds, { ...conditions, jobsPerRun, cpuMicrosPerJob }));
  }
  const half = { load, scale, perSecond: highest / 2 };
  for (const figure of await openLoopFigures(half, durability, conditions)) report(figure);
}

export function place(scratch: Scratch, durability: Durability): { dir?: string } {
  return durability === "memory" ? {} : { dir: scratch.fresh() };
}

export function loadConditions(scratch: Scratch, durability: Durability, load: EmbeddedLoad) {
  return {
    durability,
    disk: durability === "memory" ? "none" : scratch.disk,
    lanes: 10,
    gate: "one, limited, never exhausted",
    clock: "from the first add to the last ack confirmed; producer and worker in one process",
    ...load.conditions,
  };
}

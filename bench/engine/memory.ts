// What a waiting job and a lane take. Measures the process (RSS), not the engine. The engine's own
// figure is in the conditions next to it.

import type { Engine } from "@sluice/engine";
import type { Figure, Group, Scale } from "../figure.ts";
import { settledMemory } from "../settled-memory.ts";
import { rounded } from "../spread.ts";
import { EngineJobs, EngineLoad, fill, GATE, grouped, makeEngine } from "./load.ts";

// So few that they weigh nothing beside the jobs.
const LANES_FOR_JOBS = 1000;
const LANES = 1_000_000;

export const memoryGroups: readonly Group[] = [
  ...[1_000_000, 10_000_000].map((jobs) => ({
    name: `memory-jobs-${jobs}`,
    run: (scale: Scale) => measureJobs(scale.size(jobs), scale.size(LANES_FOR_JOBS)),
  })),
  {
    name: "memory-lanes",
    run: (scale) => measureLanes(scale.size(LANES), scale.size(LANES_FOR_JOBS)),
  },
];

function measureJobs(jobs: number, lanes: number): Figure {
  warmUp();
  const before = settledMemory();
  const engine = filled(jobs, lanes);
  const after = settledMemory();
  return {
    metric: `memory of a waiting job, ${grouped(jobs)} jobs`,
    value: rounded((after.rss - before.rss) / jobs),
    unit: "B",
    target: { atMost: 100 },
    conditions: { jobs, lanes, ...perUnit(before, after, jobs), ...tables(engine, jobs) },
  };
}

// Two engines with as many jobs, one with few lanes and one with a lane for each job: the
// difference is what the lanes take.
function measureLanes(lanes: number, fewLanes: number): Figure {
  warmUp();
  const before = settledMemory();
  const few = filled(lanes, fewLanes);
  const between = settledMemory();
  const many = filled(lanes, lanes);
  const after = settledMemory();
  const job = (between.rss - before.rss) / lanes;
  // Both engines are in use until the last measurement, or the collector would take one.
  few.tick(0);
  return {
    metric: `memory of a lane, ${grouped(lanes)} lanes`,
    value: rounded((after.rss - between.rss) / lanes - job),
    unit: "B",
    target: { atMost: 300 },
    conditions: {
      lanes,
      jobs: lanes,
      jobBytesSubtracted: rounded(job),
      ...perUnit(between, after, lanes),
      ...tables(many, lanes),
    },
  };
}

function filled(jobs: number, lanes: number): Engine {
  const engine = makeEngine();
  engine.setGate(GATE, { rate: 1e9, burst: 1e9 }, 0);
  fill(engine, new EngineJobs(lanes, GATE), jobs, 0);
  return engine;
}

// Compiled code and the young generation take their room before the first look at the memory.
function warmUp(): void {
  new EngineLoad({ lanes: 10, isGated: true }).warmUp();
}

function perUnit(before: NodeJS.MemoryUsage, after: NodeJS.MemoryUsage, units: number) {
  return {
    source: "growth of RSS after gc",
    heapBytes: rounded((after.heapUsed - before.heapUsed) / units),
    externalBytes: rounded((after.external - before.external) / units),
  };
}

function tables(engine: Engine, units: number) {
  const sizes = Object.entries(engine.queries.memory());
  return Object.fromEntries(
    sizes.map(([name, bytes]) => [`engineBytes.${name}`, rounded(bytes / units)]),
  );
}

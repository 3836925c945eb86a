// What a job takes that waits for another. The process is asked (RSS), not the engine.

import type { Engine } from "@sluice/engine";
import { EngineLoad, makeEngine, QUEUE } from "../engine/load.ts";
import type { Figure, Group } from "../figure.ts";
import { settledMemory } from "../settled-memory.ts";
import { rounded } from "../spread.ts";

const JOBS = 1_000_000;
// So few that they weigh nothing beside those that wait for them.
const DEPENDENTS = 1000;

export const blockedMemory: Group = {
  name: "blocked-memory",
  run: (scale) => measure(scale.size(JOBS)),
};

function measure(jobs: number): Figure {
  // Compiled code and the young generation take their room before the first look at the memory.
  new EngineLoad({ lanes: 10, isGated: true }).warmUp();
  const before = settledMemory();
  const engine = makeEngine();
  fill(engine, jobs);
  const after = settledMemory();
  const { blocked } = engine.queries.queueStats(QUEUE);
  const tables = Object.entries(engine.queries.memory());
  return {
    metric: "memory of a blocked job",
    value: rounded((after.rss - before.rss) / jobs),
    unit: "B",
    target: { atMost: 150 },
    conditions: {
      blocked,
      source: "growth of RSS after gc",
      heapBytes: rounded((after.heapUsed - before.heapUsed) / jobs),
      ...Object.fromEntries(
        tables.map(([name, bytes]) => [`engineBytes.${name}`, rounded(bytes / jobs)]),
      ),
    },
  };
}

function fill(engine: Engine, jobs: number): void {
  for (let added = 0; added < jobs; added += DEPENDENTS) {
    const { id } = engine.add(QUEUE, { delayMs: 3_600_000, body: 1 }, 0);
    const spec = { dependencies: [{ id }], body: 1 };
    engine.addAll(QUEUE, new Array(DEPENDENTS).fill(spec), 0);
  }
}

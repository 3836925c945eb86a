// What the scheduler itself costs for a task, from submit to callback: indexers without limits that
// answer at once, by processor time.

import { type Indexer, SearchScheduler } from "@sluice/torznab";
import { Sluice } from "sluice";
import type { Group } from "../figure.ts";
import { percentileOf } from "../percentile.ts";

const SEARCHES = 10_000;
const INDEXERS = 200;
const PER_SEARCH = 5;

async function microsecondsPerTask(searches: number): Promise<number> {
  await using sluice = await Sluice.open({ durability: "memory" });
  const scheduler = await SearchScheduler.open<number, never>({
    sluice,
    exec: () => ({ results: [] }),
  });
  const all: Indexer[] = Array.from({ length: INDEXERS }, (_, i) => {
    return { id: `i${i}`, name: `Indexer ${i}`, interval: 0 };
  });
  const { promise: over, resolve } = Promise.withResolvers<void>();
  let left = searches;
  const before = process.cpuUsage();
  for (let n = 0; n < searches; n++) {
    scheduler.submit({
      indexers: Array.from({ length: PER_SEARCH }, (_, i) => all[(n * 31 + i * 37) % INDEXERS]!),
      params: n,
      priority: "interactive",
      onJobDone: () => {
        if (--left === 0) resolve();
      },
    });
    // Others get a turn now and then, as they would in a service.
    if (n % 100 === 0) await new Promise((turn) => setImmediate(turn));
  }
  await over;
  const { user, system } = process.cpuUsage(before);
  await scheduler.stop();
  return (user + system) / (searches * PER_SEARCH);
}

export const costGroups: Group[] = [
  {
    name: "cost",
    async run(scale, report) {
      const searches = scale.size(SEARCHES);
      const runs: number[] = [];
      for (let i = 0; i < scale.runs; i++) runs.push(await microsecondsPerTask(searches));
      report({
        metric: "scheduling, per task",
        value: percentileOf(runs, 0.5),
        unit: "µs of processor",
        conditions: {
          searches,
          indexers: INDEXERS,
          tasks: searches * PER_SEARCH,
          durability: "memory",
          runs: scale.runs,
        },
      });
    },
  },
];

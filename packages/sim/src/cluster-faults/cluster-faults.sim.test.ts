// Worlds in which the partitions of a cluster move at any moment, each held to its promises.
//
// CLUSTER_START chooses where the seeds begin, CLUSTER_COUNT how many there are, and
// CLUSTER_BUDGET_MS ends the run early; the summary says how many ran.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runClusterWorld } from "./world.ts";

const START = Number(process.env.CLUSTER_START ?? 1);
const COUNT = Number(process.env.CLUSTER_COUNT ?? 100);
const BUDGET_MS = Number(process.env.CLUSTER_BUDGET_MS ?? 4000);

test("nothing is lost, doubled or mixed up while partitions move", async (t) => {
  const startedMs = performance.now();
  let worlds = 0;
  let jobs = 0;
  let deliveries = 0;
  for (let seed = START; seed < START + COUNT; seed++) {
    const history = await runClusterWorld({ seed });
    assert.deepEqual(history.failures, [], `seed ${seed}`);
    worlds++;
    jobs += history.jobs;
    deliveries += history.deliveries;
    if (performance.now() - startedMs > BUDGET_MS) break;
  }
  t.diagnostic(`${worlds} worlds, ${jobs} jobs, ${deliveries} deliveries`);
});

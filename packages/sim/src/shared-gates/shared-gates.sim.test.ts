// Gates that several partitions share over a bad network: no limit is exceeded by all of them
// together, over any time, and no job waits without end.

import assert from "node:assert/strict";
import { test } from "node:test";
import { testSaved, testWorlds } from "../test-worlds.ts";
import { fullRate } from "./full-rate.ts";
import { runSharedGates } from "./world.ts";

const SEEDS = { count: 100, budgetMs: 5_000 };

testSaved("shared-gates.txt", (seed) => runSharedGates(seed));

testWorlds("no limit is exceeded by all partitions together, and no job is stuck", SEEDS, (seed) =>
  runSharedGates(seed),
);

test("three partitions use the rate of one gate between them, in equal parts", async (t) => {
  const { share, perPartition, failures } = await fullRate({ rate: 1000 }, 3000);
  t.diagnostic(`${(share * 100).toFixed(1)} % of the rate: ${perPartition.join(", ")}`);
  assert.deepEqual(failures, []);
  assert.ok(share >= 0.95, `${share} of the rate`);
  for (const count of perPartition) assert.ok(count > 800, `${count} of 3000`);
});

// Gates that several partitions share over a bad network: no limit is exceeded by all of them
// together, over any time, and nothing waits for ever.
//
// SHARED_START chooses where the seeds begin, SHARED_COUNT how many there are, and SHARED_BUDGET_MS
// ends the run early; the summary says how many ran.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fullRate } from "./full-rate.ts";
import { runSharedGates } from "./world.ts";

const START = Number(process.env.SHARED_START ?? 1);
const COUNT = Number(process.env.SHARED_COUNT ?? 100);
const BUDGET_MS = Number(process.env.SHARED_BUDGET_MS ?? 5000);

// A cooldown whose end nobody looked at; two costs in one lot above the burst; a want that went
// with a lost answer; places given away while a borrower that came back was being heard;
// two homes that each keep the permit that a job of the other one needs; a partition that crashed
// while it opened (the harness waited for that opening without end).
const SAVED = [1, 10, 40, 173, 218, 766];

test("no limit is exceeded by all partitions together, and no job is stuck", async (t) => {
  const startedMs = performance.now();
  const seeds = [...SAVED, ...Array.from({ length: COUNT }, (_, i) => START + i)];
  let worlds = 0;
  let jobs = 0;
  let calls = 0;
  for (const seed of seeds) {
    const end = await runSharedGates({ seed });
    assert.deepEqual(end.failures, [], `seed ${seed}`);
    worlds++;
    jobs += end.dispatched;
    calls += end.calls;
    if (worlds > SAVED.length && performance.now() - startedMs > BUDGET_MS) break;
  }
  t.diagnostic(`${worlds} worlds, ${jobs} jobs, ${calls} calls`);
});

test("three partitions use the rate of one gate between them, in equal parts", async (t) => {
  const { share, perPartition, failures } = await fullRate({ rate: 1000 }, 3000);
  t.diagnostic(`${(share * 100).toFixed(1)} % of the rate: ${perPartition.join(", ")}`);
  assert.deepEqual(failures, []);
  assert.ok(share >= 0.95, `${share} of the rate`);
  for (const count of perPartition) assert.ok(count > 800, `${count} of 3000`);
});

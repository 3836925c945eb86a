// Worlds of faults, each held to every promise.
//
// BROKER_START chooses where the fresh seeds begin, BROKER_COUNT how many there are, and
// BROKER_BUDGET_MS ends the run early; the summary says how many ran.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reportBrokerWorld, Summary } from "./report.ts";
import { savedSeeds } from "./seeds.ts";
import { runBrokerWorld } from "./world.ts";

const START = Number(process.env.BROKER_START ?? 1);
const COUNT = Number(process.env.BROKER_COUNT ?? 100);
const BUDGET_MS = Number(process.env.BROKER_BUDGET_MS ?? 20_000);

test("every saved world of broker faults holds", async () => {
  for (const seed of savedSeeds()) {
    const end = await runBrokerWorld({ seed });
    if (end.failure !== undefined) assert.fail(reportBrokerWorld(end));
  }
});

test("the broker keeps its promises through crashes, broken disks and wrong clocks", async (t) => {
  const startedMs = performance.now();
  const summary = new Summary();
  for (let seed = START; seed < START + COUNT; seed++) {
    const end = await runBrokerWorld({ seed });
    if (end.failure !== undefined) assert.fail(reportBrokerWorld(end));
    summary.add(end);
    if (performance.now() - startedMs > BUDGET_MS) break;
  }
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  t.diagnostic(`seeds from ${START}: ${summary}, in ${seconds} s`);
});

test("the same seed gives the same history", async () => {
  for (const seed of [1, 2, 3, 60, 217]) {
    const { hash } = await runBrokerWorld({ seed });
    assert.equal((await runBrokerWorld({ seed })).hash, hash, `seed ${seed}`);
  }
});

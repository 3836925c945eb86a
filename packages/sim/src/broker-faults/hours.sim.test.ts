// Simulated hours of the real broker, each held to every promise: crashes, broken disks, wall
// clocks that step, workers that are slow, fail, hang and die.
//
// The fresh seeds are new every day and the same all day: what breaks in the morning breaks at
// noon. HOURS_START chooses where they begin, HOURS_COUNT how many there are, HOURS_DAYS makes
// each as long as that many days, and HOURS_BUDGET_MS ends the run early; the summary says how many
// ran.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readSeeds } from "../saved-seeds.ts";
import { reportBrokerWorld, Summary } from "./report.ts";
import { runBrokerWorld } from "./world.ts";

const DAY_MS = 86_400_000;
// Days are this many seeds apart, far more than one run takes.
const SEEDS_PER_DAY = 1_000_000;
const { HOURS_START, HOURS_COUNT = 300, HOURS_DAYS, HOURS_BUDGET_MS = 100_000 } = process.env;
const START = Number(HOURS_START ?? Math.floor(Date.now() / DAY_MS) * SEEDS_PER_DAY);
const HOURS = HOURS_DAYS === undefined ? 1 : 24 * Number(HOURS_DAYS);

test("every saved hour holds", async () => {
  for (const seed of readSeeds("hours.txt")) {
    const end = await runBrokerWorld({ seed, hours: 1 });
    if (end.failure !== undefined) assert.fail(reportBrokerWorld(end));
  }
});

test("every promise holds in fresh hours with crashes and wrong clocks", async (t) => {
  const startedMs = performance.now();
  const summary = new Summary();
  for (let seed = START; seed < START + Number(HOURS_COUNT); seed++) {
    const end = await runBrokerWorld({ seed, hours: HOURS });
    if (end.failure !== undefined) assert.fail(reportBrokerWorld(end));
    summary.add(end);
    if (performance.now() - startedMs > Number(HOURS_BUDGET_MS)) break;
  }
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  t.diagnostic(`fresh seeds from ${START}: ${summary}, in ${seconds} s`);
});

test("the same seed gives the same hour", async () => {
  const hashes: string[] = [];
  for (const seed of [7, 7, 8]) hashes.push((await runBrokerWorld({ seed, hours: 1 })).hash);
  assert.equal(hashes[1], hashes[0]);
  assert.notEqual(hashes[2], hashes[0]);
});

test("a run of two days holds", async () => {
  const end = await runBrokerWorld({ seed: 3, hours: 48 });
  if (end.failure !== undefined) assert.fail(reportBrokerWorld(end));
});

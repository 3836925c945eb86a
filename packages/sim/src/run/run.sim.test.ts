// Simulated hours with everything that goes wrong, each held to every promise.
//
// The fresh seeds are new in every run, and what breaks is printed with its seed. SIM_START chooses
// where they begin, SIM_COUNT how many there are, and SIM_BUDGET_MS ends the run early; the summary
// says how many ran.

import assert from "node:assert/strict";
import { test } from "node:test";
import { reportFailure, Summary } from "./report.ts";
import { runSeed } from "./run.ts";
import { savedSeeds, startOfDay } from "./seeds.ts";
import { range, sweep } from "./sweep.ts";

const COUNT = Number(process.env.SIM_COUNT ?? 300);
const BUDGET_MS = Number(process.env.SIM_BUDGET_MS ?? 100_000);

test("every saved seed holds", () => {
  for (const end of sweep(savedSeeds())) {
    if (end.failure !== undefined) assert.fail(reportFailure(end));
  }
});

test("every promise holds in fresh hours with crashes and wrong clocks", (t) => {
  const start = startOfDay();
  const startedMs = performance.now();
  const summary = new Summary();
  for (const end of sweep(range(start, COUNT))) {
    if (end.failure !== undefined) assert.fail(reportFailure(end));
    summary.add(end);
    if (performance.now() - startedMs > BUDGET_MS) break;
  }
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  t.diagnostic(`fresh seeds from ${start}: ${summary}, in ${seconds} s`);
  assert.ok(summary.seeds > 0);
});

test("the same seed gives the same events, and another seed others", () => {
  const [first, again, other] = [7, 7, 8].map((seed) => runSeed({ seed }));
  assert.equal(again?.hash, first?.hash);
  assert.notEqual(other?.hash, first?.hash);
});

test("a run of two days holds and forgets what its snapshots remember", () => {
  const end = runSeed({ seed: 3, lengthMs: 48 * 3_600_000 });
  if (end.failure !== undefined) assert.fail(reportFailure(end));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { belongsTo } from "./files.ts";
import {
  E2E_QUIET_MS,
  E2E_SUITES,
  PATIENCE,
  QUIET_MS,
  SUITES,
  type Suite,
  Time,
} from "./suites.ts";

test("the budgets add up to what the whole run may take", () => {
  const sum = (suites: readonly Suite[]): number =>
    suites.reduce((total, suite) => total + suite.budgetMs, 0);
  assert.equal(sum(SUITES), QUIET_MS * PATIENCE);
  assert.equal(sum(E2E_SUITES), E2E_QUIET_MS * PATIENCE);
});

test("each test file belongs to exactly one suite", () => {
  const expected = {
    "packages/engine/src/gates/gate-state.test.ts": "unit",
    "packages/engine/src/gates/gate-state.prop.test.ts": "property",
    "packages/sim/src/hour.sim.test.ts": "simulation",
    "packages/protocol/src/frame.fuzz.test.ts": "fuzzing",
    "packages/log/src/kill.crash.test.ts": "crash",
    "apps/retracker/src/browser.e2e.test.ts": "e2e",
    "tests/tidy/tidy.test.ts": "tidy",
  };
  for (const [path, name] of Object.entries(expected)) {
    const suites = [...SUITES, ...E2E_SUITES].filter((suite) => belongsTo(suite, path));
    assert.deepEqual(
      suites.map((suite) => suite.name),
      [name],
      path,
    );
  }
});

test("a suite has its own time and what those before it have left, and no more", () => {
  const [suite] = SUITES;
  const own = { ...suite!, budgetMs: 1000 };
  const time = new Time();
  const given = [400, 900, 3000, 10].map((elapsedMs) => {
    const lent = time.next(own);
    time.used(lent, elapsedMs);
    return lent.budgetMs;
  });
  assert.deepEqual(given, [1000, 1600, 1700, 1000]);
});

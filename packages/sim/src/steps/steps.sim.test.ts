// Handlers in steps, through crashes of broker and workers.

import assert from "node:assert/strict";
import { testWorlds } from "../test-worlds.ts";
import { runSteps } from "./world.ts";

testWorlds(
  "recorded steps never run again, suspended jobs hold nothing, and all jobs end",
  { count: 150, budgetMs: 10_000 },
  (seed) => runSteps(seed),
  ({ steps = 0, suspensions = 0, crashes = 0 }) => {
    assert.ok(Math.min(steps, suspensions, crashes) > 0, "nothing happened");
  },
);

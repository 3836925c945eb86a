import assert from "node:assert/strict";
import { testWorlds } from "../test-worlds.ts";
import { seedOfDay } from "../world-end.ts";
import { runCrossFlows } from "./world.ts";

testWorlds(
  "in flows over partitions that move no job runs too early, and all end as the rules say",
  { start: seedOfDay(), count: 200, budgetMs: 10_000 },
  runCrossFlows,
  (counts) => {
    assert.ok(counts.ends! > 20, "jobs end");
    assert.ok(counts["over partitions"]! > 10, "jobs wait for jobs of other partitions");
  },
);

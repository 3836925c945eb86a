import assert from "node:assert/strict";
import { testWorlds } from "../test-worlds.ts";
import { seedOfDay } from "../world-end.ts";
import { runFlowWorld } from "./world.ts";

testWorlds(
  "in random flows no job runs before what it waits for, and all end as the rules say",
  { start: seedOfDay(), count: 1000, budgetMs: 10_000 },
  runFlowWorld,
  (counts) => {
    assert.ok(counts.ends! > 100, "jobs end");
    assert.ok(counts.restarts! > 10, "engines are rebuilt");
  },
);

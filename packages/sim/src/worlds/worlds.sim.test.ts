// Random worlds: the engine against the slow model, after every call.

import assert from "node:assert/strict";
import { testSaved, testWorlds } from "../test-worlds.ts";
import { seedOfDay } from "../world-end.ts";
import { kindNamed } from "./plan.ts";
import { runEngineWorld } from "./run.ts";

const SEEDS = { start: seedOfDay(), count: 10_000, budgetMs: 100_000 };

testSaved("worlds.txt", (seed, kind) => runEngineWorld(seed, { kind: kindNamed(kind!) }));

testWorlds(
  "engine and model agree after every call of fresh random worlds",
  SEEDS,
  (seed) => runEngineWorld(seed),
  ({ leases }) => assert.ok(leases! > 0),
);

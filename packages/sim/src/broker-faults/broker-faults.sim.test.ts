// Worlds of faults, each held to every promise.

import assert from "node:assert/strict";
import { test } from "node:test";
import { testSaved, testWorlds } from "../test-worlds.ts";
import { runBrokerWorld } from "./world.ts";

const SEEDS = { count: 100, budgetMs: 20_000 };

testSaved("broker.txt", (seed) => runBrokerWorld({ seed }));

testWorlds("every promise holds through crashes, broken disks and wrong clocks", SEEDS, (seed) =>
  runBrokerWorld({ seed }),
);

test("the same seed gives the same history", async () => {
  for (const seed of [1, 2, 3, 60, 217]) {
    const { hash } = await runBrokerWorld({ seed });
    assert.equal((await runBrokerWorld({ seed })).hash, hash, `seed ${seed}`);
  }
});

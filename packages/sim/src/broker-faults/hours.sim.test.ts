// Simulated hours of the real broker, each held to every promise: crashes, broken disks, wall
// clocks that step, workers that are slow, fail, hang and die.

import assert from "node:assert/strict";
import { test } from "node:test";
import { testSaved, testWorlds } from "../test-worlds.ts";
import { seedOfDay } from "../world-end.ts";
import { runBrokerWorld } from "./world.ts";

const SEEDS = { start: seedOfDay(), count: 300, budgetMs: 100_000 };

testSaved("hours.txt", (seed) => runBrokerWorld({ seed, hours: 1 }));

testWorlds("every promise holds in fresh hours with crashes and wrong clocks", SEEDS, (seed) =>
  runBrokerWorld({ seed, hours: 1 }),
);

testWorlds("every promise holds for two days", { start: 3, count: 1, budgetMs: 0 }, (seed) =>
  runBrokerWorld({ seed, hours: 48 }),
);

test("the same seed gives the same hour", async () => {
  const hashes: string[] = [];
  for (const seed of [7, 7, 8]) hashes.push((await runBrokerWorld({ seed, hours: 1 })).hash);
  assert.equal(hashes[1], hashes[0]);
  assert.notEqual(hashes[2], hashes[0]);
});

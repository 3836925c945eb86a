// Worlds in which the partitions of a cluster move at any moment, each held to its promises.

import { testWorlds } from "../test-worlds.ts";
import { runClusterWorld } from "./world.ts";

const SEEDS = { count: 100, budgetMs: 4_000 };

testWorlds("nothing is lost, doubled or mixed up while partitions move", SEEDS, (seed) =>
  runClusterWorld(seed),
);

// Schedules through crashes, power losses, pauses and steps of the wall clock.

import { testSaved, testWorlds } from "../test-worlds.ts";
import { seedOfDay } from "../world-end.ts";
import { runScheduleWorld } from "./world.ts";

const SEEDS = { start: seedOfDay(), count: 30, budgetMs: 15_000 };

testSaved("schedules.txt", (seed) => runScheduleWorld(seed));

testWorlds("no tick makes two jobs, and none is missing beyond catchUp", SEEDS, (seed) =>
  runScheduleWorld(seed),
);

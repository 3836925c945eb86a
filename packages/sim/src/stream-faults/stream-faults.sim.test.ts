// Worlds in which connections are cut at any moment, each held to the promises of the stream.

import assert from "node:assert/strict";
import { testWorlds } from "../test-worlds.ts";
import { runStreamWorld } from "./world.ts";

for (const [crashes, away, faults] of [
  [false, false, "cut connections"],
  [true, false, "cut connections and servers that crash"],
  [true, true, "servers that crash and are away for longer than adds wait"],
] as const) {
  testWorlds(
    `no add is lost or doubled, and no lease delivered twice, over ${faults}`,
    { count: 100, budgetMs: 3_000 },
    (seed) => runStreamWorld({ seed, crashes, away }),
    ({ "adds UNAVAILABLE": unavailable = 0, TIMEOUT: timeouts = 0 }) => {
      if (!away) return;
      assert.ok(unavailable > 0 && timeouts > 0, "the worlds have both kinds of errors");
    },
  );
}

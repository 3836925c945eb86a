// Worlds in which connections are cut at any moment, each held to the promises of the stream.
//
// STREAM_START chooses where the seeds begin, STREAM_COUNT how many there are, and STREAM_BUDGET_MS
// ends the run early; the summary says how many ran.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runStreamWorld } from "./world.ts";

const START = Number(process.env.STREAM_START ?? 1);
const COUNT = Number(process.env.STREAM_COUNT ?? 100);
const BUDGET_MS = Number(process.env.STREAM_BUDGET_MS ?? 3000);

for (const [crashes, away, faults] of [
  [false, false, "cut connections"],
  [true, false, "cut connections and servers that crash"],
  [true, true, "servers that crash and are away for longer than adds wait"],
] as const) {
  test(`no add is lost or doubled, and no lease delivered twice, over ${faults}`, async (t) => {
    const startedMs = performance.now();
    let worlds = 0;
    let jobs = 0;
    let deliveries = 0;
    let unavailable = 0;
    let timeouts = 0;
    for (let seed = START; seed < START + COUNT; seed++) {
      const history = await runStreamWorld({ seed, crashes, away });
      assert.deepEqual(history.failures, [], `seed ${seed}`);
      worlds++;
      jobs += history.jobs;
      deliveries += history.deliveries;
      unavailable += history.unavailable;
      timeouts += history.timeouts;
      if (performance.now() - startedMs > BUDGET_MS) break;
    }
    const refused = away ? `, ${unavailable} adds UNAVAILABLE, ${timeouts} TIMEOUT` : "";
    t.diagnostic(`${worlds} worlds, ${jobs} jobs, ${deliveries} deliveries${refused}`);
    if (away) assert.ok(unavailable > 0 && timeouts > 0, "the worlds have both kinds of errors");
  });
}

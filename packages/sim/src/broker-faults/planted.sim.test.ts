// A harness that cannot see a bug is no harness: each planted one must be found.

import assert from "node:assert/strict";
import { test } from "node:test";
import { plantBroker } from "./plant.ts";
import { PLANTED } from "./planted.ts";
import { runWorld } from "./world.ts";

const SEEDS_MAX = 100;

for (const [name, bug] of Object.entries(PLANTED)) {
  test(`the worlds show that ${name}`, async (t) => {
    const module = await plantBroker(bug);
    for (let seed = bug.seed; seed < bug.seed + SEEDS_MAX; seed++) {
      const { failure } = await runWorld({ seed, module });
      // What the real one breaks too is not the planted bug.
      const isOwn = failure !== undefined && (await runWorld({ seed })).failure === undefined;
      if (!isOwn) continue;
      t.diagnostic(`seed ${seed}: ${failure.split("\n")[0]}`);
      return;
    }
    assert.fail(`not found in ${SEEDS_MAX} seeds`);
  });
}

// A harness that cannot see a bug is no harness: each planted one must be found.

import assert from "node:assert/strict";
import { test } from "node:test";
import { plantBroker } from "./plant.ts";
import { PLANTED } from "./planted.ts";
import { runWorld } from "./world.ts";

const SEEDS_MAX = 40;

for (const [name, bug] of Object.entries(PLANTED)) {
  test(`the worlds show that ${name}`, async (t) => {
    const module = await plantBroker(bug);
    for (let seed = bug.seed; seed < bug.seed + SEEDS_MAX; seed++) {
      const { failures } = await runWorld({ seed, module });
      // What the real one breaks too is not the planted bug.
      const isOwn = failures.length > 0 && (await runWorld({ seed })).failures.length === 0;
      if (!isOwn) continue;
      t.diagnostic(`seed ${seed}: ${failures[0]}`);
      return;
    }
    assert.fail(`not found in ${SEEDS_MAX} worlds`);
  });
}

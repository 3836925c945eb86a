// A harness that cannot see a bug is no harness: each planted one must be found.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hunt } from "./hunt.ts";
import { plant } from "./plant.ts";
import { PLANTED } from "./planted.ts";

const SEEDS_MAX = 200;

for (const [name, bug] of Object.entries(PLANTED)) {
  test(`the simulation finds that ${name}`, async (t) => {
    const find = hunt({ makeEngine: await plant(bug) }, bug.seed, SEEDS_MAX);
    assert.ok(find !== undefined, `not found in ${SEEDS_MAX} seeds`);
    t.diagnostic(`seed ${find.seed}: ${find.failure.split("\n")[0]}`);
  });
}

test("the simulation finds that answers leave before the disk has them", (t) => {
  const find = hunt({ answersEarly: true }, 1, SEEDS_MAX);
  assert.ok(find !== undefined, `not found in ${SEEDS_MAX} seeds`);
  t.diagnostic(`seed ${find.seed}: ${find.failure}`);
});

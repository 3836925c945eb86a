// A harness that cannot see a bug is no harness: each planted one must be found.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Engine } from "@sluice/engine";
import { letterQueueConfig } from "@sluice/protocol";
import { DEDICATED, play } from "./dedicated.ts";
import { hunt } from "./hunt.ts";
import { plant } from "./plant.ts";
import { PLANTED } from "./planted.ts";

const SEEDS_MAX = 100;

for (const [name, bug] of Object.entries(PLANTED)) {
  if (name in DEDICATED) continue;
  test(`the simulation finds that ${name}`, async (t) => {
    const find = hunt({ makeEngine: await plant(bug) }, bug.seed, SEEDS_MAX);
    assert.ok(find !== undefined, `not found in ${SEEDS_MAX} seeds`);
    t.diagnostic(`seed ${find.seed}: ${find.failure.split("\n")[0]}`);
  });
}

for (const name of Object.keys(DEDICATED)) {
  test(`a scene of its own shows that ${name}`, async () => {
    assert.equal(
      play(name, (options) => new Engine({ ...options, letterQueue: letterQueueConfig })),
      undefined,
    );
    assert.notEqual(play(name, await plant(PLANTED[name]!)), undefined);
  });
}

test("the simulation finds that answers leave before the disk has them", (t) => {
  const find = hunt({ answersEarly: true }, 1, SEEDS_MAX);
  assert.ok(find !== undefined, `not found in ${SEEDS_MAX} seeds`);
  t.diagnostic(`seed ${find.seed}: ${find.failure}`);
});

// A harness that cannot see a bug is no harness: each planted one must be found, and soon.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PLANTED, planted } from "./planted.ts";
import { runWorld } from "./run.ts";

const WORLDS_MAX = 300;

// A world in which the engine itself breaks proves nothing about the planted bug.
function isFound(name: string, seed: number): boolean {
  const isBroken = runWorld(seed, undefined, planted(name)).failure !== undefined;
  return isBroken && runWorld(seed).failure === undefined;
}

for (const name of Object.keys(PLANTED)) {
  test(`the worlds find that ${name}`, () => {
    for (let seed = 1; seed <= WORLDS_MAX; seed++) {
      if (isFound(name, seed)) return;
    }
    assert.fail(`not found in ${WORLDS_MAX} worlds`);
  });
}

// A harness that cannot see a bug is no harness: each planted one must be found, and soon.

import assert from "node:assert/strict";
import { test } from "node:test";
import { plant } from "../bugs/plant.ts";
import type { Kind } from "./plan.ts";
import { PLANTED, planted } from "./planted.ts";
import { PLANTED_CLAIMS } from "./planted-claims.ts";
import type { MakeEngine } from "./port.ts";
import { runWorld } from "./run.ts";

const WORLDS_MAX = 300;

// What broke, with its seed. A world in which the engine itself breaks proves nothing about the
// planted bug.
function find(makeEngine: MakeEngine, kind?: Kind): string | undefined {
  for (let seed = 1; seed <= WORLDS_MAX; seed++) {
    const { failure } = runWorld(seed, kind, makeEngine);
    if (failure === undefined || runWorld(seed, kind).failure !== undefined) continue;
    return `seed ${seed}: ${failure.message.split("\n")[0]}`;
  }
  return undefined;
}

for (const name of Object.keys(PLANTED)) {
  test(`the worlds find that ${name}`, () => {
    assert.ok(find(planted(name)) !== undefined, `not found in ${WORLDS_MAX} worlds`);
  });
}

for (const [name, bug] of Object.entries(PLANTED_CLAIMS)) {
  test(`the worlds find that ${name}`, async (t) => {
    const plantedEngine = await plant(bug);
    const makeEngine: MakeEngine = ({ seed }) => plantedEngine({ seed, facts: [] });
    const found = find(makeEngine, "places");
    assert.ok(found !== undefined, `not found in ${WORLDS_MAX} worlds`);
    t.diagnostic(found);
  });
}

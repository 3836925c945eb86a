// A harness that cannot see a bug is no harness: each planted one must be found.

import { test } from "node:test";
import type { BrokerModule } from "../broker-faults/life.ts";
import { hunt, plant } from "../plant.ts";
import { PLANTED } from "./planted.ts";
import { runSharedGates } from "./world.ts";

const SEEDS_MAX = 40;

for (const [name, bug] of Object.entries(PLANTED)) {
  test(`the worlds show that ${name}`, async (t) => {
    const module = await plant<BrokerModule>("@sluice/broker", bug);
    const found = await hunt(
      bug.seed,
      SEEDS_MAX,
      async (seed) => (await runSharedGates({ seed, module })).failures[0],
      async (seed) => (await runSharedGates({ seed })).failures[0],
    );
    t.diagnostic(found);
  });
}

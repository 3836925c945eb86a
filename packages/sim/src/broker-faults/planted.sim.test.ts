// A harness that cannot see a bug is no harness: each planted one must be found.

import { test } from "node:test";
import { hunt, plant } from "../plant.ts";
import type { BrokerModule } from "./life.ts";
import { PLANTED } from "./planted.ts";
import { runBrokerWorld } from "./world.ts";

const SEEDS_MAX = 100;

for (const [name, bug] of Object.entries(PLANTED)) {
  test(`the worlds show that ${name}`, async (t) => {
    const module = await plant<BrokerModule>("@sluice/broker", bug);
    const { hours } = bug;
    const found = await hunt(
      bug.seed,
      SEEDS_MAX,
      async (seed) => (await runBrokerWorld({ seed, hours, module })).failure,
      async (seed) => (await runBrokerWorld({ seed, hours })).failure,
    );
    t.diagnostic(found);
  });
}

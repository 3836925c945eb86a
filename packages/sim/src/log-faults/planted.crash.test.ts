// A harness that cannot see a bug is no harness: each planted one must be found.

import assert from "node:assert/strict";
import { test } from "node:test";
import { plant } from "../plant.ts";
import { damageOnce, makeHealthy } from "./damage.ts";
import { failOnce } from "./io-errors.ts";
import type { LogModule } from "./life.ts";
import { raceForLock } from "./lock-race.ts";
import { type LogBug, PLANTED } from "./planted.ts";
import { losePower } from "./power-loss.ts";

const SEEDS_MAX = 200;

const HUNTS: Record<LogBug["shownBy"], (module: LogModule, seed: number) => Promise<unknown>> = {
  powerLoss: losePower,
  ioErrors: failOnce,
  // Another seed for the harm: else it is drawn by the same luck as what is harmed.
  damage: async (module, seed) => damageOnce(module, await makeHealthy(module, seed), -seed),
  lockRace: raceForLock,
};

for (const [name, bug] of Object.entries(PLANTED)) {
  test(`the faults show that ${name}`, async (t) => {
    const module = await plant<LogModule>("@sluice/log", bug);
    for (let seed = 1; seed <= SEEDS_MAX; seed++) {
      try {
        await HUNTS[bug.shownBy](module, seed);
      } catch (error) {
        t.diagnostic(String((error as Error).message).split("\n")[0]!);
        return;
      }
    }
    assert.fail(`not found in ${SEEDS_MAX} seeds`);
  });
}

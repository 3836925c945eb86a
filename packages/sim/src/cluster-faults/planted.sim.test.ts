// Bugs that must be found: a harness that is blind to them would be blind to others.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type PlantedBug, plant } from "../planting/plant.ts";
import { type ClusterCode, runClusterWorld } from "./world.ts";

const SEEDS_MAX = 10;
const USES = ["@sluice/protocol", "@sluice/client", "@sluice/server"];

interface Planted extends PlantedBug {
  // Where the search begins: a seed that has found the bug before, so that a run is short.
  readonly seed: number;
}

const PLANTED: Readonly<Record<string, Planted>> = {
  "answers stand in the order of the partitions, not of the items": {
    file: "router/batch.ts",
    within: "const answers = await call(share);",
    find: "outcomes[place] = answers[i]!;",
    put: "outcomes.push(answers[i]!), void place;",
    seed: 1,
  },
  "a part of a call loses the name of its operation": {
    file: "router/routed-adds.ts",
    within: "callShares(shares,",
    find: "{ ...options, holdGroups }",
    put: "{ holdGroups }",
    seed: 1,
  },
  "jobs beyond the credits are handed out": {
    file: "router/spread-consumer.ts",
    within: "#receive(seat: Seat",
    find: "jobs.length <= this.#credits ? jobs : jobs.slice(0, this.#credits)",
    put: "jobs",
    seed: 1,
  },
  "a group whose members go to several partitions is not held": {
    file: "router/routed-adds.ts",
    within: "const isHeld = options.holdGroups === true;",
    find: "isHeld || groups.length > 0",
    put: "isHeld",
    seed: 4,
  },
  "the last words of a broker that has lost its log are told": {
    file: "partition-port/partition-port.ts",
    within: "const GONE",
    find: '"CLOSED", "LOG_FAILED"',
    put: '"INTERNAL"',
    seed: 1,
  },
};

for (const [name, bug] of Object.entries(PLANTED)) {
  test(`found: ${name}`, async (t) => {
    const code = await plant<ClusterCode>("@sluice/cluster", USES, bug);
    for (let seed = bug.seed; seed < bug.seed + SEEDS_MAX; seed++) {
      const { failures } = await runClusterWorld({ seed, code });
      if (failures.length === 0) continue;
      t.diagnostic(`seed ${seed}: ${failures[0]}`);
      return;
    }
    assert.fail(`not found in ${SEEDS_MAX} worlds`);
  });
}

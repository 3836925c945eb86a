// Bugs that must be found: a harness that is blind to them would be blind to others.

import { test } from "node:test";
import { hunt, plant, type SeededBug } from "../plant.ts";
import { type ClusterCode, runClusterWorld } from "./world.ts";

const SEEDS_MAX = 10;

const PLANTED: Readonly<Record<string, SeededBug>> = {
  "answers stand in the order of the partitions, not of the items": {
    file: "batch.ts",
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
    file: "spread-consumer.ts",
    within: "#receive(member: PartitionMember",
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
    file: "partition-port.ts",
    within: "const GONE",
    find: '"CLOSED", "LOG_FAILED"',
    put: '"INTERNAL"',
    seed: 1,
  },
};

for (const [name, bug] of Object.entries(PLANTED)) {
  test(`found: ${name}`, async (t) => {
    const code = await plant<ClusterCode>("@sluice/cluster", bug);
    const found = await hunt(
      bug.seed,
      SEEDS_MAX,
      async (seed) => (await runClusterWorld({ seed, code })).failures[0],
      async (seed) => (await runClusterWorld({ seed })).failures[0],
    );
    t.diagnostic(found);
  });
}

// Bugs that the worlds of clusters must find.

import { findPlanted, type PlantedBug } from "../plant.ts";
import { type ClusterCode, runClusterWorld } from "./world.ts";

const SEEDS_MAX = 10;

const PLANTED: Readonly<Record<string, PlantedBug>> = {
  "answers stand in the order of the partitions, not of the items": {
    file: "batch.ts",
    find: "outcomes[place] = answers[i]!;",
    put: "outcomes.push(answers[i]!), void place;",
  },
  "a part of a call loses the name of its operation": {
    file: "router/routed-adds.ts",
    find: "{ ...options, holdGroups }",
    put: "{ holdGroups }",
  },
  "jobs beyond the credits are handed out": {
    file: "spread-consumer.ts",
    find: "jobs.length <= this.#credits ? jobs : jobs.slice(0, this.#credits)",
    put: "jobs",
  },
  "a group whose members go to several partitions is not held": {
    file: "router/routed-adds.ts",
    find: "isHeld || groups.length > 0",
    put: "isHeld",
    seed: 4,
  },
  "the last words of a broker that has lost its log are reported": {
    file: "partition-port.ts",
    find: '"CLOSED", "LOG_FAILED"',
    put: '"INTERNAL"',
  },
};

findPlanted<ClusterCode, PlantedBug>(
  PLANTED,
  SEEDS_MAX,
  { name: "@sluice/cluster" },
  async (seed, _bug, code) => (await runClusterWorld(seed, code)).failure,
);

// Bugs that the worlds of flows over partitions must find.

import { findPlanted, type PlantedBug } from "../plant.ts";
import { type CrossFlowCode, runCrossFlows } from "./world.ts";

const SEEDS_MAX = 12;

const PLANTED: Readonly<Record<string, PlantedBug>> = {
  "the jobs of other partitions do not wait for the seal": {
    file: "router/cross-flow.ts",
    find: "seal === undefined ? after : [{ id: seal }, ...after]",
    put: "after",
  },
  "a failure in another partition counts as a finish": {
    file: "flows/flow-messages.ts",
    find: 'if (end.state !== "finished")',
    put: "if (false)",
  },
  "a message goes only when its job has finished": {
    file: "flows/link-jobs.ts",
    find: 'on === "wait" ? "wait" : "run"',
    put: '"wait"',
  },
  "the next owner of a partition passes no ends on": {
    file: "flows/flow-messages.ts",
    within: "this.#port = options.port;",
    find: "this.look();",
    put: "",
  },
  "a cancelled flow is not cancelled in other partitions": {
    file: "flows/flow-messages.ts",
    find: "if (isSeal === true) await this.#cancelDependents(job);",
    put: "",
  },
};

findPlanted<CrossFlowCode, PlantedBug>(
  PLANTED,
  SEEDS_MAX,
  { name: "@sluice/cluster" },
  async (seed, _bug, code) => (await runCrossFlows(seed, code)).failure,
);

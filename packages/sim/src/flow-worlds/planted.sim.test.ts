// Bugs that the worlds of flows must find.

import { findPlanted, type PlantedBug } from "../plant.ts";
import { type EngineModule, runFlowWorld } from "./world.ts";

const SEEDS_MAX = 60;

const PLANTED: Readonly<Record<string, PlantedBug>> = {
  "a job runs when the first of its dependencies has ended": {
    file: "flows/settle.ts",
    find: "if (open === 0) core.flows.due.push(row);",
    put: "core.jobs.setInt(row, OPEN_EDGES, 0); core.flows.due.push(row);",
  },
  "a failure counts as a finish": {
    file: "flows/settle.ts",
    find: "const isFailure = code !== FINISHED;",
    put: "const isFailure = false;",
  },
  "a flow is sealed in silence": {
    file: "flows/go-on.ts",
    find: 'core.tell({ at: now, fact: "flow", flow: flow.id, state: "sealed", until: flow.until });',
    put: "",
  },
  "a dependency is forgotten like any other job": {
    file: "verbs/end.ts",
    find: "const isNeeded = node !== 0 || details.isNeeded === true;",
    put: "const isNeeded = false;",
  },
  "a restart forgets what a job waits for": {
    file: "flows/records.ts",
    find: "record.after = after;",
    put: "record.after = [];",
  },
  "a result that others wait for goes with those of the steps": {
    file: "steps/notebook.ts",
    find: "if (!isOwnResult(step)) forgetBody(core, step);",
    put: "forgetBody(core, step);",
  },
  "a restart forgets a result that was reported before its job": {
    file: "steps/orphans.ts",
    find: "if (own === undefined) return",
    put: "if (true) return",
  },
  "the walk over dependents stops at the first": {
    file: "flows/settle.ts",
    find: "flows.cursor = links.nextFrom(edge);",
    put: "flows.cursor = 0;",
  },
};

findPlanted<EngineModule, PlantedBug>(
  PLANTED,
  SEEDS_MAX,
  { name: "@sluice/engine" },
  async (seed, _bug, module) => runFlowWorld(seed, module).failure,
);

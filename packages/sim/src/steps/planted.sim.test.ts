// Bugs that the worlds of steps must find.

import type { BrokerModule } from "../broker-faults/life.ts";
import { findPlanted, type PlantedBug } from "../plant.ts";
import { runSteps } from "./world.ts";

const SEEDS_MAX = 60;

const PLANTED: Readonly<Record<string, PlantedBug>> = {
  "a step answers before its result is durable": {
    file: "engine-calls.ts",
    within: "async each<I, T>",
    find: "await this.#journal.durable();",
    put: "",
  },
  "a result is forgotten by a restart": {
    in: "@sluice/engine",
    file: "steps/record-step.ts",
    find: "step.isDone = true;",
    put: "step.isDone = !core.isReplaying;",
  },
  "a step keeps its permits when its result is recorded": {
    in: "@sluice/engine",
    file: "steps/record-step.ts",
    find: "gate.release(now);",
    put: "",
  },
  "a suspension counts as a delivery": {
    in: "@sluice/engine",
    file: "steps/suspend.ts",
    find: "jobs.needExtra(row).leasesBefore++;",
    put: "",
  },
  "a signal does not wake the job that waits for it": {
    in: "@sluice/engine",
    file: "steps/signal.ts",
    find: 'const isAwaited = jobs.state(row) === DELAYED_JOB && pending?.kind === "wait";',
    put: "const isAwaited = false;",
  },
  "an ordered lane does not wait for its head": {
    in: "@sluice/engine",
    file: "jobs/ordered.ts",
    find: "if (lanes.get(lane, ORDER_FIRST) === 0 && lanes.get(lane, ORDER_HEAD) === 0) {",
    put: "if (lane > 0) {",
  },
  "the end of the head releases no one": {
    in: "@sluice/engine",
    file: "verbs/order.ts",
    find: "if (next !== 0 && !core.queueOf(row).deleted) releaseNext(core, next, now);",
    put: "",
  },
};

findPlanted<BrokerModule, PlantedBug>(
  PLANTED,
  SEEDS_MAX,
  { name: "@sluice/broker" },
  async (seed, _bug, module) => (await runSteps(seed, module)).failure,
);

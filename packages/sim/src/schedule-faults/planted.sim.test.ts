// Bugs of schedules that the worlds of schedules must find.

import type { BrokerModule } from "../broker-faults/life.ts";
import { findPlanted, type PlantedBug } from "../plant.ts";
import { runScheduleWorld } from "./world.ts";

const SEEDS_MAX = 12;

const PLANTED: Readonly<Record<string, PlantedBug>> = {
  "a schedule that is written again has decided nothing": {
    in: "@sluice/engine",
    file: "schedules/schedule-table.ts",
    within: "export function recordOf(",
    find: "const { config, decidedUntil, next,",
    put: "const decidedUntil = 0; const { config, next,",
  },
  "a checkpoint forgets the schedules": {
    in: "@sluice/engine",
    file: "facts/checkpoint.ts",
    find: "yield* inSteps(scheduleFacts(core));",
    put: "",
  },
  "a step of the wall moves no tick": {
    in: "@sluice/engine",
    file: "jobs/wall.ts",
    find: "if (schedules.size === 0) return;",
    put: "return;",
  },
  "a restart forgets which runs have not ended": {
    in: "@sluice/engine",
    file: "facts/replay.ts",
    find: "core.schedules.runBegan(run, isNew);",
    put: "",
  },
  "a run that dies holds its schedule up without end": {
    in: "@sluice/engine",
    file: "schedules/schedule-table.ts",
    within: "runEnded(",
    find: "if (run.isOver === true) return;",
    put: 'if (run.isOver === true || ending === "dead") return;',
  },
  "ticks that nothing saw are taken for ticks on time": {
    in: "@sluice/engine",
    file: "schedules/fire.ts",
    find: "if (due < lateBefore) {",
    put: "if (due < 0) {",
  },
  "of the missed ticks the oldest runs": {
    in: "@sluice/engine",
    file: "schedules/fire.ts",
    find: "const isNewest = i === ticks.length - 1 || ticks[i + 1]!.due >= lateBefore;",
    put: "const isNewest = i === 0;",
  },
  "ticks are reckoned from the wall and not from the last that was decided": {
    file: "schedules/schedule-ticks.ts",
    within: "#dueTicks(",
    find: "plan.passed(decidedUntil, wall, most)",
    put: "plan.passed(Math.max(decidedUntil, wall - 1000), wall, most)",
  },
};

findPlanted<BrokerModule, PlantedBug>(
  PLANTED,
  SEEDS_MAX,
  { name: "@sluice/broker" },
  async (seed, _bug, module) => (await runScheduleWorld(seed, module)).failure,
);

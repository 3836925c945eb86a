// Bugs around the engine and in a copy of it that the worlds must find, and soon.

import { test } from "node:test";
import { letterQueueConfig } from "@sluice/protocol";
import { findPlanted, hunt } from "../plant.ts";
import { PLANTED, planted } from "./planted.ts";
import { type EngineBug, PLANTED_IN_ENGINE } from "./planted-engine.ts";
import { portOf } from "./port.ts";
import { runEngineWorld } from "./run.ts";

const WORLDS_MAX = 300;

for (const name of Object.keys(PLANTED)) {
  test(`found: ${name}`, async (t) => {
    const broken = (seed: number) => runEngineWorld(seed, { makeEngine: planted(name) }).failure;
    t.diagnostic(await hunt(1, WORLDS_MAX, broken, (seed) => runEngineWorld(seed).failure));
  });
}

findPlanted<typeof import("@sluice/engine"), EngineBug>(
  PLANTED_IN_ENGINE,
  WORLDS_MAX,
  { name: "@sluice/engine" },
  async (seed, { kind }, module) => {
    if (module === undefined) return runEngineWorld(seed, { kind }).failure;
    const { Engine } = module;
    return runEngineWorld(seed, {
      kind,
      makeEngine: (options) => portOf(new Engine({ ...options, letterQueue: letterQueueConfig })),
    }).failure;
  },
);

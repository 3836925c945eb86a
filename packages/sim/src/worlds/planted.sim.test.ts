// A harness that cannot see a bug is no harness: each planted one must be found, and soon.

import { test } from "node:test";
import { letterQueueConfig } from "@sluice/protocol";
import { hunt, plant } from "../plant.ts";
import type { Kind } from "./plan.ts";
import { PLANTED, planted } from "./planted.ts";
import { PLANTED_IN_ENGINE } from "./planted-engine.ts";
import { type MakeEngine, portOf } from "./port.ts";
import { runEngineWorld } from "./run.ts";

const WORLDS_MAX = 300;

type EngineModule = typeof import("@sluice/engine");

function find(first: number, makeEngine: MakeEngine, kind?: Kind): Promise<string> {
  return hunt(
    first,
    WORLDS_MAX,
    (seed) => runEngineWorld(seed, kind, makeEngine).failure?.message,
    (seed) => runEngineWorld(seed, kind).failure?.message,
  );
}

for (const name of Object.keys(PLANTED)) {
  test(`the worlds find that ${name}`, async (t) => {
    t.diagnostic(await find(1, planted(name)));
  });
}

for (const [name, bug] of Object.entries(PLANTED_IN_ENGINE)) {
  test(`the worlds find that ${name}`, async (t) => {
    const { Engine } = await plant<EngineModule>("@sluice/engine", bug);
    t.diagnostic(
      await find(
        bug.seed,
        (options) => portOf(new Engine({ ...options, letterQueue: letterQueueConfig })),
        bug.kind,
      ),
    );
  });
}

// Every system, with its real server: what is added comes to the consumer, all of it and once.

import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { test } from "node:test";
import { Scratch } from "../scratch.ts";
import { Party, type Work } from "./party.ts";
import type { Mode, System } from "./system.ts";
import { SYSTEMS } from "./systems.ts";

const JOBS = 200;
const TENANTS = 10;

const LIMITED: Work = { isFair: true, limitPerSecond: 1000, concurrency: 100 };

async function carry(system: System, mode: Mode, work: Work): Promise<void> {
  using scratch = new Scratch();
  chmodSync(scratch.dir, 0o711);
  await using party = await Party.open(system, mode, scratch, work);
  for (const question of ["bulk", "singles"] as const) {
    const first = party.take(JOBS);
    await party.ready({ first, count: JOBS });
    await party.start();
    await Promise.all([party.produce(question, first, JOBS, TENANTS), party.finished()]);
    assert.equal(await party.stop(), JOBS);
  }
}

for (const system of SYSTEMS) {
  test(`${system.name} carries jobs`, () => carry(system, "sync", {}));

  test(`${system.name} carries jobs of tenants that share a limit`, () => {
    return carry(system, system.modes.relaxed === undefined ? "sync" : "relaxed", LIMITED);
  });
}

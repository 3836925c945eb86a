import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobSpec } from "../types.ts";
import { Drive, STEPS_PER_CALL_MAX } from "./drive.ts";

const MANY = 200_000;

function fill(drive: Drive, lanes: number, spec: (lane: number) => JobSpec): void {
  for (let lane = 0; lane < lanes; lane++) {
    drive.call((engine, now) => engine.add("q", { fairnessKey: `${lane}`, ...spec(lane) }, now));
  }
}

for (const verb of ["purge", "deleteQueue"] as const) {
  test(`a queue of 200,000 jobs goes step by step with ${verb}, while others are served`, () => {
    const drive = Drive.on("q");
    drive.open("other");
    drive.engine.setGate("g", { rate: 0 }, drive.now);
    drive.engine.want("q", "w", 0, drive.now);
    fill(drive, MANY / 2, (lane) => (lane % 4 === 0 ? { gates: ["g"] } : {}));
    fill(drive, MANY / 2, (lane) => ({ delayMs: 1000 + lane }));
    drive.add("other", "x");
    drive.call((engine, now) => engine[verb]("q", now));
    assert.equal(drive.next()?.queue, "other", "not held up");
    drive.dispatchNow();
    drive.open("q");
    drive.now += 1_000_000;
    assert.equal(drive.dispatchNow().length, 0, "nothing is left");
    assert.equal(drive.engine.queries.queueStats("q").waiting, 0);
    assert.equal(drive.engine.queries.queueStats("q").delayed, 0);
    assert.ok(drive.stepsMax <= STEPS_PER_CALL_MAX, `${drive.stepsMax} steps`);
  });
}

test("no add, dispatch or ack takes many steps while the tables grow to 200,000 rows", () => {
  const drive = Drive.on("q");
  fill(drive, MANY, (lane) => (lane % 3 === 0 ? { deadline: 9e12 } : {}));
  const held = drive.dispatchNow();
  assert.equal(held.length, MANY);
  for (const taken of held) drive.ack(taken);
  assert.ok(drive.stepsMax <= STEPS_PER_CALL_MAX, `${drive.stepsMax} steps`);
});

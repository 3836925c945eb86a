/**
 * What one call may cost, in counted steps. A step is a visit to a lane, a row or a gate: a hundred
 * nanoseconds or less, so that STEPS_MAX of them stay far below the 5 ms that a call may take.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { JobSpec } from "../types.ts";
import { Drive } from "./drive.ts";

const STEPS_MAX = 20_000;
const MANY = 200_000;

function fill(drive: Drive, lanes: number, spec: (lane: number) => JobSpec): void {
  for (let lane = 0; lane < lanes; lane++) {
    drive.call((engine, now) => engine.add("q", { fairnessKey: `${lane}`, ...spec(lane) }, now));
  }
}

/** Calls until nothing is left to do now; answers how many jobs went out. */
function quiesce(drive: Drive): number {
  return drive.dispatchNow().length;
}

test("a gate that shuts under 200,000 ready lanes costs no call much, and others pass", () => {
  const drive = new Drive();
  drive.open("q");
  drive.engine.want("q", "w", 0, drive.now);
  drive.engine.setGate("g", { concurrency: 1_000_000 }, drive.now);
  fill(drive, MANY, () => ({ gates: ["g"] }));
  drive.call((engine, now) => engine.setGate("g", { rate: 0 }, now));
  const free = drive.call((engine, now) => engine.add("q", { fairnessKey: "free" }, now)).id;
  drive.engine.want("q", "w", 1_000_000, drive.now);
  assert.deepEqual(
    drive.dispatchNow().map(({ id }) => id),
    [free],
  );
  drive.call((engine, now) => engine.setGate("g", { rate: 1, burst: 1 }, now));
  assert.equal(quiesce(drive), 1);
  drive.call((engine, now) => engine.deleteGate("g", now));
  assert.equal(quiesce(drive), MANY - 1);
  assert.ok(drive.stepsMax <= STEPS_MAX, `${drive.stepsMax} steps`);
});

test("100,000 gates that open in one millisecond spread their work, and all jobs go out then", () => {
  const drive = new Drive();
  drive.open("q");
  const gates = 100_000;
  const opens = drive.now + 1000;
  for (let i = 0; i < gates; i++) {
    drive.call((engine, now) => engine.cooldown(`g:${i}`, 1000, "down", now));
    drive.call((engine, now) =>
      engine.add("q", { fairnessKey: `${i % 1000}`, gates: [`g:${i}`] }, now),
    );
  }
  assert.equal(quiesce(drive), 0);
  assert.equal(drive.engine.nextWake(drive.now), opens);
  drive.now = opens;
  assert.equal(quiesce(drive), gates);
  assert.ok(drive.stepsMax <= STEPS_MAX, `${drive.stepsMax} steps`);
});

for (const verb of ["purge", "deleteQueue"] as const) {
  test(`a queue of 200,000 jobs goes step by step with ${verb}, while others are served`, () => {
    const drive = new Drive();
    drive.open("q");
    drive.open("other");
    drive.engine.setGate("g", { rate: 0 }, drive.now);
    drive.engine.want("q", "w", 0, drive.now);
    fill(drive, MANY / 2, (lane) => (lane % 4 === 0 ? { gates: ["g"] } : {}));
    fill(drive, MANY / 2, (lane) => ({ delayMs: 1000 + lane }));
    drive.add("other", "x");
    drive.call((engine, now) => engine[verb]("q", now));
    assert.equal(drive.next()?.queue, "other", "not held up");
    quiesce(drive);
    drive.open("q");
    drive.now += 1_000_000;
    assert.equal(quiesce(drive), 0, "nothing is left");
    assert.equal(drive.engine.queueStats("q").waiting, 0);
    assert.equal(drive.engine.queueStats("q").delayed, 0);
    assert.ok(drive.stepsMax <= STEPS_MAX, `${drive.stepsMax} steps`);
  });
}

test("a pattern of 50,000 gates is reconfigured step by step", () => {
  const drive = new Drive();
  drive.open("q");
  const gates = 50_000;
  drive.call((engine, now) => engine.setGate("g:*", { rate: 0 }, now));
  fill(drive, gates, (lane) => ({ gates: [`g:${lane}`] }));
  assert.equal(quiesce(drive), 0);
  drive.call((engine, now) => engine.setGate("g:*", { rate: 1, burst: 1 }, now));
  assert.equal(quiesce(drive), gates);
  drive.call((engine, now) => engine.deleteGate("g:*", now));
  quiesce(drive);
  assert.equal(drive.engine.gateStats("g:7", drive.now).config, undefined);
  assert.ok(drive.stepsMax <= STEPS_MAX, `${drive.stepsMax} steps`);
});

test("a million rows: no add, dispatch or ack takes many steps while the tables grow", () => {
  const drive = new Drive();
  drive.open("q");
  fill(drive, MANY, (lane) => (lane % 3 === 0 ? { deadline: 9e12 } : {}));
  const held = drive.dispatchNow();
  assert.equal(held.length, MANY);
  for (const taken of held) drive.ack(taken);
  assert.ok(drive.stepsMax <= STEPS_MAX, `${drive.stepsMax} steps`);
});

/** Steps per job of adding, dispatching and acknowledging `jobs` jobs over `lanes` lanes. */
function stepsPerJob(drive: Drive, lanes: number, jobs: number): number {
  const before = drive.engine.steps;
  for (let i = 0; i < jobs; i++) drive.add("q", `open-${i % lanes}`);
  for (const taken of drive.dispatchNow()) drive.ack(taken);
  return (drive.engine.steps - before) / jobs;
}

test("100,000 lanes behind a closed gate cost the others no step", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), (lanes) => {
      const alone = new Drive();
      alone.open("q");
      const crowded = new Drive();
      crowded.open("q");
      crowded.engine.setGate("shut", { rate: 0 }, crowded.now);
      fill(crowded, 100_000, () => ({ gates: ["shut"] }));
      crowded.dispatchNow();
      const without = stepsPerJob(alone, lanes, 10_000);
      const beside = stepsPerJob(crowded, lanes, 10_000);
      assert.ok(Math.abs(beside / without - 1) <= 0.1, `${beside} against ${without}`);
    }),
    { numRuns: 2 },
  );
});

test("the steps per job stay the same from ten lanes to 100,000", () => {
  const per = [10, 1000, 100_000].map((lanes) => {
    const drive = new Drive();
    drive.open("q");
    return stepsPerJob(drive, lanes, 100_000);
  });
  for (const each of per) {
    assert.ok(Math.abs(each / per[0]! - 1) <= 0.1, `steps per job: ${per.join(", ")}`);
  }
});

test("the steps per permit stay the same from ten lanes at a gate to 10,000", () => {
  const per = [10, 1000, 10_000].map((lanes) => {
    const drive = new Drive();
    drive.open("q");
    drive.engine.setGate("g", { rate: 1000, burst: 1 }, drive.now);
    fill(drive, lanes, () => ({ gates: ["g"] }));
    for (let i = 0; i < 10_000; i++) {
      drive.add("q", "x", { fairnessKey: `${i % lanes}`, gates: ["g"] });
    }
    drive.run(100);
    const before = drive.engine.steps;
    drive.run(9000);
    return (drive.engine.steps - before) / 9000;
  });
  for (const each of per) {
    assert.ok(each <= 1.1 * per[0]!, `steps per permit: ${per.join(", ")}`);
  }
});

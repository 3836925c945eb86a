import assert from "node:assert/strict";
import { test } from "node:test";
import { each } from "../testing/test-engine.ts";
import type { JobSpec } from "../types.ts";
import { Drive, STEPS_PER_CALL_MAX } from "./drive.ts";

const MANY = 200_000;

function fill(drive: Drive, lanes: number, spec: (lane: number) => JobSpec): void {
  for (let lane = 0; lane < lanes; lane++) {
    drive.call((engine, now) => engine.add("q", { fairnessKey: `${lane}`, ...spec(lane) }, now));
  }
}

test("a gate that shuts under 200,000 ready lanes costs no call much, and others pass", () => {
  const drive = Drive.on("q");
  drive.engine.want("q", "w", 0, drive.now);
  drive.engine.setGate("g", { concurrency: 1_000_000 }, drive.now);
  fill(drive, MANY, () => ({ gates: ["g"] }));
  drive.call((engine, now) => engine.setGate("g", { rate: 0 }, now));
  const free = drive.call((engine, now) => engine.add("q", { fairnessKey: "free" }, now)).id;
  drive.engine.want("q", "w", 1_000_000, drive.now);
  assert.deepEqual(each(drive.dispatchNow(), "id"), [free]);
  drive.call((engine, now) => engine.setGate("g", { rate: 1, burst: 1 }, now));
  assert.equal(drive.dispatchNow().length, 1);
  drive.call((engine, now) => engine.deleteGate("g", now));
  assert.equal(drive.dispatchNow().length, MANY - 1);
  assert.ok(drive.stepsMax <= STEPS_PER_CALL_MAX, `${drive.stepsMax} steps`);
});

test("100,000 gates that open in one millisecond spread their work, and all jobs go out", () => {
  const drive = Drive.on("q");
  const gates = 100_000;
  const opens = drive.now + 1000;
  for (let i = 0; i < gates; i++) {
    drive.call((engine, now) => engine.cooldown(`g:${i}`, 1000, "down", now));
    drive.call((engine, now) =>
      engine.add("q", { fairnessKey: `${i % 1000}`, gates: [`g:${i}`] }, now),
    );
  }
  assert.equal(drive.dispatchNow().length, 0);
  assert.equal(drive.engine.nextWake(drive.now), opens);
  drive.now = opens;
  assert.equal(drive.dispatchNow().length, gates);
  assert.ok(drive.stepsMax <= STEPS_PER_CALL_MAX, `${drive.stepsMax} steps`);
});

test("a pattern of 20,000 gates is reconfigured step by step", () => {
  const drive = Drive.on("q");
  const gates = 20_000;
  drive.call((engine, now) => engine.setGate("g:*", { rate: 0 }, now));
  fill(drive, gates, (lane) => ({ gates: [`g:${lane}`] }));
  assert.equal(drive.dispatchNow().length, 0);
  drive.call((engine, now) => engine.setGate("g:*", { rate: 1, burst: 1 }, now));
  assert.equal(drive.dispatchNow().length, gates);
  drive.call((engine, now) => engine.deleteGate("g:*", now));
  drive.dispatchNow();
  assert.equal(drive.engine.queries.gateStats("g:7", drive.now).config, undefined);
  assert.ok(drive.stepsMax <= STEPS_PER_CALL_MAX, `${drive.stepsMax} steps`);
});

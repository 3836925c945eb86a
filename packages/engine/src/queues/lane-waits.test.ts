import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine } from "../testing/test-engine.ts";
import { LaneWaits } from "./lane-waits.ts";

test("the mean of a lane follows its last jobs", () => {
  const waits = new LaneWaits();
  assert.equal(waits.read(7), undefined);
  waits.count(7, 100, true);
  waits.count(7, 200, false);
  assert.equal(waits.read(7), 150);
  for (let i = 0; i < 2_000; i++) waits.count(7, 10, false);
  assert.ok(Math.abs(waits.read(7)! - 10) < 1);
});

test("of two lanes with one place the busier is remembered, and a quiet one gives way", () => {
  const waits = new LaneWaits();
  for (let i = 0; i < 10; i++) waits.count(1, 5, i === 0);
  waits.count(129, 900, true);
  assert.equal(waits.read(129), undefined);
  assert.equal(waits.read(1), 5);
  for (let i = 0; i < 10; i++) waits.count(129, 900, false);
  assert.equal(waits.read(129), 900);
  assert.equal(waits.read(1), undefined);
});

test("a lane at the place of a former one starts with its own first job", () => {
  const waits = new LaneWaits();
  for (let i = 0; i < 10; i++) waits.count(3, 5_000, i === 0);
  waits.count(3, 1, true);
  assert.equal(waits.read(3), 1);
});

test("the lanes of a queue tell how long their jobs waited once they were due", () => {
  const engine = openEngine({}, { seed: 1 });
  engine.addAll(
    "q",
    Array.from({ length: 4 }, () => ({ fairnessKey: "noisy" })),
    0,
  );
  engine.want("q", "w", 10, 0);
  engine.dispatch(0);
  engine.addAll("q", [{ fairnessKey: "noisy" }, { fairnessKey: "quiet" }], 1_000);
  const waits = () =>
    engine.queries.lanes("q").rows.map((row) => {
      const { key, wait } = engine.queries.surveyLanes("q").share(row);
      return [key, wait];
    });
  assert.deepEqual(waits(), [
    ["noisy", 0],
    ["quiet", undefined],
  ]);
  engine.dispatch(1_500);
  assert.deepEqual(waits(), [
    ["noisy", 100],
    ["quiet", 500],
  ]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { addSteps } from "./add-steps.ts";

test("a plain job is one step; gates and further levels of a path are two each", () => {
  assert.equal(addSteps({}), 1);
  assert.equal(addSteps({ fairnessKey: "a" }), 1);
  assert.equal(addSteps({ fairnessKey: ["a"] }), 1);
  assert.equal(addSteps({ fairnessKey: ["a", "b", "c", "d"] }), 7);
  assert.equal(addSteps({ gates: Array.from({ length: 16 }, (_, i) => `g${i}`) }), 33);
});

test("an item that is not a job is a plain one: adding it refuses it", () => {
  for (const item of [undefined, { gates: 5, fairnessKey: [] }]) assert.equal(addSteps(item), 1);
});

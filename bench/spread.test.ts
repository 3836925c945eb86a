import assert from "node:assert/strict";
import { test } from "node:test";
import { spreadOf } from "./spread.ts";

test("the median is the middle one, or the mean of the two in the middle", () => {
  assert.deepEqual(spreadOf([9, 1, 10]), { median: 9, min: 1, max: 10 });
  assert.deepEqual(spreadOf([4, 1, 10, 2]), { median: 3, min: 1, max: 10 });
});

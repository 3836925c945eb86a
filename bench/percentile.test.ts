import assert from "node:assert/strict";
import { test } from "node:test";
import { percentileOf } from "./percentile.ts";

test("a percentile is one of the values, and as many are not above it as were asked for", () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  assert.equal(percentileOf(values, 0.5), 50);
  assert.equal(percentileOf(values, 0.99), 99);
  assert.equal(percentileOf(values, 1), 100);
  assert.equal(percentileOf(values, 0), 1);
});

test("values are ordered as numbers, and a single one is each percentile", () => {
  assert.equal(percentileOf([9, 10, 1], 0.5), 9);
  assert.equal(percentileOf([7], 0.99), 7);
});

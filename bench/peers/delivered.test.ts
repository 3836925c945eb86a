import assert from "node:assert/strict";
import { test } from "node:test";
import { Delivered } from "./delivered.ts";

function deliver(ids: readonly number[]): Delivered {
  const delivered = new Delivered(10, 3);
  for (const id of ids) delivered.mark(id);
  return delivered;
}

test("the very set that was added is without fault, in any order", () => {
  assert.equal(deliver([12, 10, 11]).fault(true), undefined);
});

test("a job that never came is a fault of the whole, not of a part", () => {
  assert.equal(deliver([10, 12]).fault(true), "of 3 jobs: 1 never delivered");
  assert.equal(deliver([10, 12]).fault(false), undefined);
});

test("a job that came twice is a fault, of a part too", () => {
  assert.equal(deliver([10, 11, 11, 12]).fault(true), "of 3 jobs: 1 delivered again");
  assert.equal(deliver([11, 11]).fault(false), "of 3 jobs: 1 delivered again");
});

test("a job of another run is a fault", () => {
  const text = "of 3 jobs: 2 that were not added";
  assert.equal(deliver([9, 10, 11, 12, 13]).fault(true), text);
});

test("one that has grown knows what came before", () => {
  const grown = deliver([10, 11]).grown(5);
  grown.mark(14);
  assert.equal(grown.fault(true), "of 5 jobs: 2 never delivered");
  grown.mark(10);
  assert.equal(grown.fault(false), "of 5 jobs: 1 delivered again");
});

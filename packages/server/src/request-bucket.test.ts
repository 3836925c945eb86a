import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestBucket } from "./request-bucket.ts";

test("what is taken over any time is the rate, and a burst of a tenth of a second", () => {
  let now = 0;
  const bucket = new RequestBucket(1000, () => now);
  let taken = 0;
  for (; now < 10_000; now += 0.25) if (bucket.take(1) === 0) taken++;
  assert.ok(taken <= 10_000 + 100, `took ${taken}`);
  assert.ok(taken >= 9_900, `took ${taken}`);
});

test("a batch is taken as a whole and paid for before the next", () => {
  let now = 0;
  const bucket = new RequestBucket(100, () => now);
  assert.equal(bucket.take(60), 0);
  assert.equal(bucket.take(1), 510, "fifty in debt, and one to take");
  now = 509;
  assert.ok(bucket.take(1) > 0);
  now = 510;
  assert.equal(bucket.take(1), 0);
});

test("a refused request takes nothing from the bucket", () => {
  let now = 0;
  const bucket = new RequestBucket(1, () => now);
  assert.equal(bucket.take(1), 0);
  for (let i = 0; i < 1000; i++) assert.equal(bucket.take(1), 1000);
  now = 1000;
  assert.equal(bucket.take(1), 0);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { TokenBucket } from "./token-bucket.ts";

test("a new bucket is full", () => {
  const bucket = new TokenBucket(1, 3, 100);
  assert.equal(bucket.tokens(100), 3);
  assert.equal(bucket.full(100), true);
  bucket.take(1, 100);
  assert.equal(bucket.full(1099), false);
  assert.equal(bucket.full(1100), true);
});

test("0.3 a second gives exactly 3 tokens in 10 s, also after days", () => {
  const bucket = new TokenBucket(0.3, 2, 0);
  bucket.take(2, 0);
  let now = 0;
  for (let token = 1; token <= 300_000; token++) {
    now = bucket.opensAt(1, now);
    assert.equal(now, Math.ceil((token * 10_000) / 3));
    bucket.take(1, now);
  }
  assert.equal(now, 1_000_000_000);
});

test("decimal rates and bursts count as they are written", () => {
  const bucket = new TokenBucket(0.29, 2.3, 0);
  assert.equal(bucket.tokens(0), 2.3);
  bucket.take(2, 0);
  assert.equal(bucket.tokens(100_000), 2.3);
  bucket.take(2, 100_000);
  assert.equal(bucket.tokens(101_000), 0.59);
});

test("a rate of 0 closes, full or not, and keeps the level", () => {
  const bucket = new TokenBucket(0, 2, 0);
  assert.equal(bucket.opensAt(1, 0), Infinity);
  assert.equal(bucket.opensBeside(1, 1, 1000, 0), false);
  bucket.take(1, 0);
  assert.equal(bucket.tokens(1e9), 1);
  bucket.configure(1, 2, 1e9);
  assert.equal(bucket.opensAt(2, 1e9), 1e9 + 1000);
});

test("what takes longer than 139 years has no time", () => {
  const bucket = new TokenBucket(1e-6, 1e9, 0);
  bucket.take(1e9, 0);
  assert.equal(bucket.opensAt(1, 0), 1e9);
  assert.equal(bucket.opensAt(1e6, 0), Infinity);
  assert.equal(bucket.opensBeside(1, 1e6, 1e12, 0), false);
  assert.equal(bucket.tokens(2 ** 42 + 1000), Math.floor(2 ** 42 / 1e6) / 1000);
});

test("a cost above the burst waits for a full bucket and leaves a debt", () => {
  const bucket = new TokenBucket(10, 20, 0);
  bucket.configure(10, 5, 0);
  assert.equal(bucket.tokens(0), 5);
  assert.equal(bucket.opensAt(12, 0), 0);
  bucket.take(12, 0);
  assert.equal(bucket.tokens(0), -7);
  assert.equal(bucket.opensAt(1, 0), 800);
  assert.equal(bucket.opensAt(12, 0), 1200);
});

test("a forced take empties the bucket, and makes no debt and no tokens", () => {
  const bucket = new TokenBucket(1, 5, 0);
  for (let i = 0; i < 3; i++) bucket.take(3, 0);
  assert.equal(bucket.tokens(0), 0);
  bucket.take(8, 0);
  assert.equal(bucket.tokens(0), -3);
  bucket.take(1, 0);
  assert.equal(bucket.tokens(0), -3);
});

test("a rate change counts what came at the old rate until then", () => {
  const bucket = new TokenBucket(1, 10, 0);
  bucket.take(10, 0);
  bucket.configure(5, 10, 2000);
  assert.equal(bucket.tokens(2000), 2);
  assert.equal(bucket.tokens(3000), 7);
  bucket.configure(5, 4, 3000);
  assert.equal(bucket.tokens(3000), 4);
  bucket.configure(5, 10, 3000);
  assert.equal(bucket.tokens(3000), 4);
});

test("a claim passes beside a take only if the rest and the refill cover it", () => {
  const bucket = new TokenBucket(1, 3, 0);
  assert.equal(bucket.opensBeside(1, 2, 0, 0), true);
  assert.equal(bucket.opensBeside(2, 2, 0, 0), false);
  assert.equal(bucket.opensBeside(2, 2, 999, 0), false);
  assert.equal(bucket.opensBeside(2, 2, 1000, 0), true);
  assert.equal(bucket.opensBeside(1, 9, 999, 0), false);
  assert.equal(bucket.opensBeside(1, 9, 1000, 0), true);
});

test("a take in the middle of a millisecond makes no room for what had run over", () => {
  const bucket = new TokenBucket(1000, 2, 0);
  bucket.take(1, 0.5);
  assert.equal(bucket.tokens(1.9), 1);
  bucket.take(1, 2.9);
  assert.equal(bucket.tokens(3), 1);
});

test("a rate change in the middle of a millisecond gives nothing away", () => {
  const bucket = new TokenBucket(1, 5, 0);
  bucket.take(5, 0);
  bucket.configure(1000, 5, 0.9);
  assert.equal(bucket.tokens(1), 0);
  assert.equal(bucket.tokens(2), 1);
});

test("a loaded save continues with the same level and fraction", () => {
  const bucket = new TokenBucket(0.7, 4, 0);
  bucket.take(4, 0);
  const again = new TokenBucket(0.7, 4, 0);
  again.load(JSON.parse(JSON.stringify(bucket.save(1235))), 1235);
  assert.deepEqual(again.save(1_100_000), bucket.save(1_100_000));
  const smaller = new TokenBucket(0.7, 1, 0);
  smaller.load({ level: 3000, carry: 5, at: 10 }, 20);
  assert.deepEqual(smaller.save(20), { level: 1000, carry: 0, at: 20 });
});

test("what a claim finds beside a take counts nothing that had run over before the take", () => {
  const bucket = new TokenBucket(1000, 2, 0);
  bucket.take(0.5, 0);
  assert.equal(bucket.opensBeside(1, 1, 1, 0), true);
  assert.equal(bucket.opensBeside(1, 1, 1, 0.5), false, "half a token had run over");
  assert.equal(bucket.opensBeside(1, 1, 2, 0.5), true);
  bucket.take(1.5, 0);
  assert.equal(bucket.opensBeside(0, 1, 1, 0.5), true);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { Breaker } from "./breaker.ts";

function breakerAt() {
  const clock = { now: 0 };
  return { clock, breaker: new Breaker(() => clock.now) };
}

test("three failures in a row open it for ten seconds", () => {
  const { clock, breaker } = breakerAt();
  breaker.hear(false);
  breaker.hear(false);
  assert.equal(breaker.isOpen, false);
  breaker.hear(false);
  assert.equal(breaker.isOpen, true);
  clock.now = 9_999;
  assert.equal(breaker.isOpen, true);
  clock.now = 10_000;
  assert.equal(breaker.isOpen, false);
});

test("a success in between begins the count anew", () => {
  const { breaker } = breakerAt();
  for (const isOk of [false, false, true, false, false]) breaker.hear(isOk);
  assert.equal(breaker.isOpen, false);
});

test("after its rest it takes three failures again", () => {
  const { clock, breaker } = breakerAt();
  for (let i = 0; i < 3; i++) breaker.hear(false);
  clock.now = 10_000;
  breaker.hear(false);
  breaker.hear(false);
  assert.equal(breaker.isOpen, false);
});

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

test("a success resets the count of failures", () => {
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

test("a script that cost a thread rests at once, and twice as long each time", () => {
  const { clock, breaker } = breakerAt();
  for (const restMs of [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
    breaker.hearKilled();
    clock.now += restMs - 1;
    assert.equal(breaker.isOpen, true, `${restMs} ms`);
    clock.now += 1;
    assert.equal(breaker.isOpen, false, `${restMs} ms`);
  }
  breaker.hear(true);
  breaker.hearKilled();
  clock.now += 10_000;
  assert.equal(breaker.isOpen, false, "a success in between begins the count again");
});

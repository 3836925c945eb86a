import assert from "node:assert/strict";
import { test } from "node:test";
import { paceOf } from "./pace.ts";

test("one start every millisecond is a thousand a second, in every window", () => {
  const times = Array.from({ length: 3001 }, (_, index) => index);
  assert.deepEqual(paceOf(times), { perSecond: 1000, mostInWindow: 990, mostInTenth: 100 });
});

test("a burst that comes a few milliseconds early belongs to its own second", () => {
  const burst = (at: number): number[] => Array.from({ length: 1000 }, () => at);
  assert.equal(paceOf([...burst(8), ...burst(1000), ...burst(2010)]).mostInWindow, 1000);
  assert.equal(paceOf([...burst(20), ...burst(1000), ...burst(2021)]).mostInWindow, 2000);
});

test("bursts at the begin of each second are what the limit allows, and no more", () => {
  const burst = (at: number): number[] => Array.from({ length: 1000 }, () => at);
  assert.equal(paceOf([...burst(0), ...burst(1001), ...burst(2002)]).perSecond, 1000);
});

test("a run that is too short for the first burst to be over is not judged", () => {
  assert.throws(() => paceOf([0, 1, 1999]), /too short/);
});

test("two bursts at the edge of two fixed seconds are seen by a window that slides", () => {
  const burst = (at: number): number[] => Array.from({ length: 1000 }, () => at);
  const { mostInWindow, mostInTenth } = paceOf([...burst(990), ...burst(1010), ...burst(3010)]);
  assert.equal(mostInWindow, 2000);
  assert.equal(mostInTenth, 2000);
});

test("a second apart is not the same second", () => {
  assert.equal(paceOf([0, 1000, 2000]).mostInWindow, 1);
});

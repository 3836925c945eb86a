import assert from "node:assert/strict";
import { test } from "node:test";
import type { GateSettings } from "../options/gate-options.ts";
import { type Dispatch, excesses, tokensLeft, usedAfter } from "./excesses.ts";

const at = (...times: number[]): Dispatch[] =>
  times.map((time) => ({ at: time, cost: 1, tier: 0, endedAt: time + 10 }));

const parts = (config: GateSettings, dispatches: readonly Dispatch[], slackMs = 0): string[] =>
  excesses(config, dispatches, slackMs).map(({ part }) => part);

test("a rate allows its burst, and then a token at a time", () => {
  assert.deepEqual(parts({ rate: 10, burst: 2 }, at(0, 0, 100, 200)), []);
  assert.deepEqual(parts({ rate: 10, burst: 2 }, at(0, 0, 99)), ["rate"]);
  assert.deepEqual(parts({ rate: 10, burst: 2 }, at(0, 0, 99), 1), []);
});

test("a job that costs more than the burst has all of it to itself", () => {
  const large = [{ at: 0, cost: 5, tier: 0, endedAt: 1 }];
  assert.deepEqual(parts({ rate: 1, burst: 2 }, large), []);
  assert.deepEqual(parts({ rate: 1, burst: 2 }, [...large, ...at(999)]), ["rate"]);
  assert.deepEqual(parts({ windows: [{ limit: 2, per: 100 }] }, [...large, ...at(100)]), []);
  assert.deepEqual(parts({ windows: [{ limit: 2, per: 100 }] }, [...large, ...at(99)]), ["window"]);
});

test("a window counts over any time of its length", () => {
  const windows = [{ limit: 2, per: 100 }];
  assert.deepEqual(parts({ windows }, at(50, 60, 150, 160)), []);
  assert.deepEqual(parts({ windows }, at(50, 60, 149)), ["window"]);
});

test("an interval counts from the start or the end of the job before", () => {
  assert.deepEqual(parts({ interval: { every: 50, from: "start" } }, at(0, 50)), []);
  assert.deepEqual(parts({ interval: { every: 50, from: "start" } }, at(0, 49)), ["interval"]);
  assert.deepEqual(parts({ interval: { every: 50, from: "end" } }, at(0, 60)), []);
  assert.deepEqual(parts({ interval: { every: 50, from: "end" } }, at(0, 59)), ["interval"]);
});

test("an end makes room for a start in the same millisecond", () => {
  assert.deepEqual(parts({ concurrency: 2 }, at(0, 5, 10)), []);
  assert.deepEqual(parts({ concurrency: 2 }, at(0, 5, 9)), ["concurrency"]);
});

test("what is left of a bucket and used in a window follows from the dispatches", () => {
  assert.equal(tokensLeft({ rate: 10, burst: 2 }, at(0, 0), 100), 1);
  assert.equal(tokensLeft({ rate: 10, burst: 2 }, [], 100), 2);
  assert.equal(usedAfter(at(0, 50, 100), 50), 1);
});

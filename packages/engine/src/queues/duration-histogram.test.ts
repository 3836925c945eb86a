import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine } from "../testing/test-engine.ts";
import { DurationHistogram } from "./duration-histogram.ts";

function buckets(ms: readonly number[]): [number, number][] {
  const times = new DurationHistogram();
  for (const one of ms) times.count(one);
  return times.read().counts.flatMap((count, i) => (count > 0 ? [[i, count]] : []));
}

test("a time is counted under the first power of two that it does not exceed", () => {
  assert.deepEqual(buckets([0, 1]), [[0, 2]]);
  assert.deepEqual(buckets([2, 3, 4, 5, 8, 9]), [
    [1, 1],
    [2, 2],
    [3, 2],
    [4, 1],
  ]);
  assert.deepEqual(buckets([2 ** 22, 2 ** 22 + 1, 2 ** 40]), [
    [22, 1],
    [23, 2],
  ]);
});

test("a queue counts how long jobs waited once they were due, and how long they ran", () => {
  const engine = openEngine({ retry: { minMs: 100, maxMs: 100, jitter: 0 } }, { seed: 1 });
  engine.addAll("q", [{ delayMs: 1000 }], 0);
  engine.want("q", "w", 1, 0);
  engine.dispatch(1000);
  engine.want("q", "w", 1, 1000);
  engine.nack(1, 1, 1004);
  engine.dispatch(1104 + 16);
  engine.ack(1, 2, 1120 + 32);
  const { wait, run } = engine.queries.queueTimes("q");
  assert.equal(wait.sum, 0, "each went out when it was due, as the engine counts the time");
  assert.deepEqual(run.counts.slice(0, 6), [0, 0, 1, 0, 0, 1]);
  assert.equal(run.sum, 36);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import type { QueueInfo, QueueTimes } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import { HISTORY_EVERY_MS, HISTORY_POINTS, HISTORY_QUEUES_MAX } from "../limits.ts";
import { keepHistory } from "./keep-history.ts";
import { QueueHistories, quantile } from "./queue-histories.ts";

function queue(name: string, stats: Partial<QueueInfo["stats"]> = {}): QueueInfo {
  const zero = { waiting: 0, added: 0, finished: 0, failed: 0, retried: 0, dead: 0 };
  return { name, stats: { name, ...zero, ...stats } } as QueueInfo;
}

const waits = (name: string, counts: number[]): QueueTimes => ({
  name,
  wait: { counts, sum: 0 },
  run: { counts: [], sum: 0 },
});

test("rates are what came between two moments, a second", () => {
  const history = new QueueHistories();
  history.record(0, [queue("q", { added: 100 })], [waits("q", [4, 0, 0])]);
  const stats = { added: 150, finished: 20, retried: 5, dead: 5, waiting: 7 };
  history.record(5_000, [queue("q", stats)], [waits("q", [4, 0, 9])]);
  const { times, series } = history.of("q");
  assert.deepEqual(times, [0, 5_000]);
  assert.deepEqual(series.in, [0, 10], "what was there before is no rate");
  assert.deepEqual(series.out, [0, 4]);
  assert.deepEqual(series.failures, [0, 2]);
  assert.deepEqual(series.waiting, [0, 7]);
  assert.deepEqual(series.waitP50, [0.5, 3], "only waits since the moment before count");
});

test("a queue that came later has gaps before, one that is gone has nothing", () => {
  const history = new QueueHistories();
  history.record(0, [queue("old")], []);
  history.record(1, [queue("old"), queue("new", { waiting: 3 })], []);
  assert.deepEqual(history.spark("new", "waiting", 3), [null, null, 3]);
  history.record(2, [queue("new")], []);
  assert.deepEqual(history.spark("old", "waiting", 2), [null, null]);
});

test("a queue that is created again under its name has no negative rates", () => {
  const history = new QueueHistories();
  history.record(0, [queue("q", { added: 100 })], [waits("q", [9])]);
  history.record(1_000, [queue("q", { added: 1 })], [waits("q", [1])]);
  assert.equal(history.last("q", "in"), 0);
});

test("partitions that go missing or come back are no rate", () => {
  const history = new QueueHistories();
  history.record(0, [queue("q", { added: 100 })], [waits("q", [9])]);
  history.record(1_000, [queue("q", { added: 40 })], [waits("q", [2])], [3]);
  history.record(2_000, [queue("q", { added: 50 })], [waits("q", [4])], [3]);
  history.record(3_000, [queue("q", { added: 125 })], [waits("q", [20])]);
  history.record(4_000, [queue("q", { added: 130 })], [waits("q", [21])]);
  const { series } = history.of("q");
  assert.deepEqual(series.in, [0, 0, 10, 0, 5]);
  assert.deepEqual(series.waitP50.slice(1), [0, 0.5, 0, 0.5]);
});

test("no more than half an hour and so many queues are kept", () => {
  const history = new QueueHistories();
  const queues = Array.from({ length: HISTORY_QUEUES_MAX + 1 }, (_, i) => queue(`q${i}`));
  history.record(0, queues, []);
  assert.deepEqual(history.spark(`q${HISTORY_QUEUES_MAX}`, "waiting", 1), [null]);
  for (let i = 1; i < HISTORY_POINTS + 10; i++)
    history.record(i, [queue("q0", { waiting: i })], []);
  const { times, series } = history.of("q0");
  assert.equal(times.length, HISTORY_POINTS);
  assert.equal(times[0], 10);
  assert.equal(series.waiting[0], 10);
  assert.equal(series.waiting.at(-1), HISTORY_POINTS + 9);
  assert.equal(history.spark("q0", "waiting", HISTORY_POINTS + 5)[0], null);
});

test("a quantile lies within its bucket", () => {
  assert.equal(quantile([], 0.5), 0);
  assert.equal(quantile([0, 0, 0], 0.99), 0);
  assert.equal(quantile([0, 0, 0, 100], 0.5), 6, "half of the way from 4 to 8");
  assert.equal(quantile([98, 0, 0, 2], 0.99), 6);
  assert.equal(quantile([99, 0, 0, 1], 0.99), 1);
});

test("queues are sampled at intervals of the clock until the server closes", async (t) => {
  const clock = turningClock(20);
  const broker = await openBroker({ log: new MemoryLog(), clock });
  t.after(() => broker.close());
  await broker.setQueue("q", {});
  const closing = new AbortController();
  const history = keepHistory(() => broker, clock, closing.signal);
  const begin = clock.now();
  await clock.advance(3 * HISTORY_EVERY_MS + 1);
  const steps = [1, 2, 3].map((step) => begin + step * HISTORY_EVERY_MS);
  assert.deepEqual(history.of("q").times, steps);
  closing.abort();
  await clock.advance(10 * HISTORY_EVERY_MS);
  assert.deepEqual(history.of("q").times, steps);
});

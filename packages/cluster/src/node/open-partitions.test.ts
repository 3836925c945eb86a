import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { SystemClock } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import { ServedPartitions } from "../partitions/served-partitions.ts";
import { type FencedLog, FencedStore } from "../testing/fenced-log.ts";
import { OpenPartitions, type OpenPartitionsOptions } from "./open-partitions.ts";

const NEW = { hasLog: false, anchor: undefined };

/** Counts the logs that are open; those that are followed open when the test says so. */
function openPartitions(t: TestContext, more: Partial<OpenPartitionsOptions> = {}) {
  const store = new FencedStore();
  const open = new Set<FencedLog>();
  const follows: PromiseWithResolvers<FencedLog>[] = [];
  const watched = (log: FencedLog): FencedLog => {
    open.add(log);
    const close = log.close.bind(log);
    log.close = () => {
      open.delete(log);
      return close();
    };
    return log;
  };
  const made = new OpenPartitions({
    clock: new SystemClock(),
    openLog: async () => watched(store.open()),
    followLog: () => {
      const follow = Promise.withResolvers<FencedLog>();
      follows.push(follow);
      return follow.promise;
    },
    broker: {},
    partitions: new ServedPartitions(),
    count: 1,
    resumeMs: 0,
    isExpected: () => false,
    troubleOf: () => undefined,
    onFailed: () => {},
    onServed: () => {},
    ...more,
  });
  t.after(() => made.stop());
  const followed = (): void => follows.shift()!.resolve(watched(store.follow()));
  return { partitions: made, open, followed };
}

test("a log that can be read ahead only when it is not wanted any more is closed", async (t) => {
  const { partitions: made, open, followed } = openPartitions(t);
  const warming = assert.rejects(made.warm(0), { code: "MOVED" });
  made.cool(0);
  followed();
  await warming;
  assert.equal(open.size, 0);
});

test("so is one that comes after its partition was opened without it", async (t) => {
  const { partitions: made, open, followed } = openPartitions(t);
  const warming = assert.rejects(made.warm(0), { code: "MOVED" });
  await made.open(0, NEW);
  followed();
  await warming;
  assert.equal(open.size, 1);
  await made.close(0);
  assert.equal(open.size, 0);
});

test("what was read ahead is served, and nothing is left when the node ends", async (t) => {
  const { partitions: made, open, followed } = openPartitions(t);
  const warming = made.warm(0);
  followed();
  await warming;
  await made.open(0, NEW);
  assert.equal(open.size, 1);
  const late = assert.rejects(made.warm(0), { code: "MOVED" });
  await made.stop();
  followed();
  await late;
  await assert.rejects(made.open(0, NEW), { code: "MOVED" });
  assert.equal(open.size, 0);
});

test("a wait for a partition ends at once when the partition goes elsewhere", async (t) => {
  const clock = turningClock(5);
  const expected = new Set([0, 1]);
  const isExpected = (partition: number): boolean => expected.has(partition);
  const { partitions: made } = openPartitions(t, { clock, count: 2, isExpected });
  const told: number[] = [];
  for (const partition of [0, 1]) void made.served(partition).then(() => told.push(partition));
  made.look();
  await clock.advance(0);
  assert.deepEqual(told, []);
  expected.delete(1);
  made.look();
  await clock.advance(0);
  assert.deepEqual(told, [1]);
});

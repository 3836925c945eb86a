import assert from "node:assert/strict";
import { test } from "node:test";
import { turningClock } from "@sluice/protocol/testing";
import { ServedPartitions } from "../partitions/served-partitions.ts";
import { OpenPartitions } from "./open-partitions.ts";

test("whoever waits for a partition hears at once that it goes elsewhere", async () => {
  const clock = turningClock(5);
  const expected = new Set([0, 1]);
  const opened = new OpenPartitions({
    clock,
    openLog: () => Promise.reject(new Error("nothing is opened here")),
    broker: {},
    partitions: new ServedPartitions({ clock }),
    count: 2,
    resumeMs: 0,
    isExpected: (partition) => expected.has(partition),
    troubleOf: () => undefined,
    onFailed: () => {},
    onServed: () => {},
  });
  const told: number[] = [];
  for (const partition of [0, 1]) void opened.served(partition).then(() => told.push(partition));
  opened.look();
  await clock.advance(0);
  assert.deepEqual(told, []);
  expected.delete(1);
  opened.look();
  await clock.advance(0);
  assert.deepEqual(told, [1]);
  await opened.stop();
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { turningClock } from "@sluice/protocol/testing";
import { PATIENCE_MS } from "../limits.ts";
import { makeCall } from "./make-call.ts";
import { ServedPartitions } from "./served-partitions.ts";

test("calls to a partition that no node serves are refused after a while", async () => {
  const clock = turningClock(20);
  const partitions = new ServedPartitions({ clock });
  const port = partitions.port(0);
  const adding = port.add("mail", [{ payload: new Uint8Array(1) }]).catch((error) => error);
  let isOver = false;
  void makeCall(partitions, 0, (one) => one.ended("0-a1"))
    .catch(() => {})
    .finally(() => {
      isOver = true;
    });
  await clock.advance(PATIENCE_MS + 1_000);
  assert.equal((await adding).code, "UNAVAILABLE");
  const at = await port.queues().catch((error) => error);
  assert.equal(at.code, "UNAVAILABLE");
  assert.equal(isOver, false);
  partitions.serve(0, await openBroker({ log: new MemoryLog(), clock }));
  await clock.advance(1_000);
  assert.deepEqual(await partitions.port(0).queues(), { items: [] });
  await clock.advance(10);
  assert.equal(isOver, true);
  await partitions.close();
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLog } from "@sluice/log";
import { openBroker } from "./broker.ts";

const payload = new Uint8Array(1);

test("creates at most queuesMax queues, and existing ones can be changed", async (t) => {
  const broker = await openBroker({ log: new MemoryLog(), queuesMax: 2 });
  t.after(() => broker.close());
  await broker.setQueue("a", {});
  await broker.setQueue("b", {});
  await assert.rejects(broker.setQueue("c", {}), { code: "LIMIT_REACHED" });
  await broker.setQueue("a", { lease: 7 });
  await broker.deleteQueue("b");
  await broker.setQueue("c", {});
  assert.equal((await broker.queues()).items.length, 2);
});

test("a dead letter gets its queue even when queuesMax is reached", async (t) => {
  const broker = await openBroker({ log: new MemoryLog(), queuesMax: 1 });
  t.after(() => broker.close());
  await broker.setQueue("a", { retry: { attempts: 1 } });
  await broker.add("a", [{ payload }]);
  const [job] = await broker.lease("a", { max: 1 });
  await broker.nack([{ lease: job!.lease, error: "boom" }]);
  assert.equal((await broker.queue("a.dlq")).stats.waiting, 1);
});

test("queuesMax is a number from 1 on", async () => {
  for (const queuesMax of [0, -1, 1.5, Number.NaN, "7" as never]) {
    const opening = openBroker({ log: new MemoryLog(), queuesMax });
    await assert.rejects(opening, { code: "INVALID" }, String(queuesMax));
  }
});

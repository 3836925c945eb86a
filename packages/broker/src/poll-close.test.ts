import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLog } from "@sluice/log";
import { openBroker } from "./index.ts";

const payload = new TextEncoder().encode("x");

test("a poll that waits when the broker closes takes nothing from earlier polls", async () => {
  const log = new MemoryLog();
  const broker = await openBroker({ log });
  await broker.setQueue("q", {});
  await broker.add("q", [{ payload }]);
  const [held] = await broker.lease("q", { max: 1, worker: "w" });
  const waiting = broker.lease("q", { max: 1, wait: 60_000, worker: "w" });
  await broker.close();
  assert.deepEqual(await waiting, []);
  const again = await openBroker({ log: new MemoryLog({ after: log }) });
  assert.deepEqual(await again.lease("q", { max: 1 }), []);
  assert.deepEqual(await again.ack([{ lease: held!.lease }]), [{ ok: true }]);
  await again.close();
});

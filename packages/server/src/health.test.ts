import assert from "node:assert/strict";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { type Broker, type BrokerStats, SluiceError } from "@sluice/protocol";
import { brokerReadiness } from "./health.ts";
import { serve } from "./serve.ts";
import { call, memoryBroker } from "./testing/start.ts";

test("a server listens while its broker recovers, and says how far it is", async (t) => {
  const opening = Promise.withResolvers<Broker>();
  let doneBytes = 0;
  const recovery = () => ({ doneBytes, totalBytes: 200 });
  const server = await serve({ broker: opening.promise, recovery, log: "silent", keys: true });
  t.after(() => server.close());
  const ask = (line: string, key?: string) =>
    call(server.address, line, key === undefined ? {} : { key });
  doneBytes = 84;
  const ready = await ask("GET /readyz");
  assert.deepEqual([ready.status, ready.body], [503, { ok: false, text: "recovering, 42 %" }]);
  assert.equal((await ask("GET /healthz")).status, 200);
  const early = await ask("GET /v1/queues");
  assert.deepEqual([early.status, early.body.error.code], [503, "RECOVERING"]);
  assert.equal(early.headers.get("retry-after"), "1");
  const broker = await memoryBroker(t);
  opening.resolve(broker);
  const { key } = (await server.firstKey)!;
  assert.deepEqual((await ask("GET /readyz")).body, { ok: true, text: "ready" });
  assert.equal((await ask("GET /v1/queues", key)).status, 200);
});

test("a broker that could not be opened is never ready", async (t) => {
  const server = await serve({ broker: Promise.reject(new Error("no disk")), log: "silent" });
  t.after(() => server.close());
  await assert.rejects(server.firstKey, /no disk/);
  const { status, body } = await call(server.address, "GET /readyz");
  assert.deepEqual(
    [status, body.text],
    [503, "the broker could not be opened; the server's log says why"],
  );
  assert.equal((await call(server.address, "GET /v1/queues")).body.error.code, "CLOSED");
});

test("a closed broker, or one whose log has failed, is not ready", async (t) => {
  const log = new MemoryLog();
  const broker = await openBroker({ log });
  const server = await serve({ broker, log: "silent" });
  t.after(() => server.close());
  await broker.close();
  const closed = await call(server.address, "GET /readyz");
  assert.deepEqual([closed.status, closed.body.text], [503, "closed"]);
  assert.equal((await call(server.address, "GET /v1/queues")).body.error.code, "CLOSED");
  const failing = {
    stats: () => Promise.reject(new SluiceError("LOG_FAILED", "EIO")),
  } as unknown as Broker;
  assert.match((await brokerReadiness(failing)).text, /^the log has failed/);
});

test("a broker that makes no progress is not ready", async () => {
  const figures = { unsyncedFor: 0, overdueBy: 0 } as BrokerStats;
  const readiness = (some: Partial<BrokerStats>) =>
    brokerReadiness({ stats: async () => ({ ...figures, ...some }) } as unknown as Broker);
  assert.ok((await readiness({})).isReady);
  assert.ok((await readiness({ unsyncedFor: 9_000, overdueBy: 9_000 })).isReady);
  assert.deepEqual(await readiness({ unsyncedFor: 12_000 }), {
    isReady: false,
    text: "a write to the log has taken 12 s",
  });
  assert.equal((await readiness({ overdueBy: 12_000 })).isReady, false);
});

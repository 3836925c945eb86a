// The roles of keys, as the two ways over the network keep them.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { connectBroker } from "@sluice/client/remote";
import type { Broker } from "@sluice/protocol";
import { type CallOptions, payload, type Started, start } from "../testing/start.ts";

interface Place extends Started {
  /** Makes a key with this role. */
  keyOf(role: string, on?: string): Promise<string>;
}

async function place(t: TestContext): Promise<Place> {
  const started = await start(t, { keys: true, queues: ["orders.a", "payments"] });
  const admin = (await started.server.firstKey)!.key;
  const keyOf = async (role: string, on?: string): Promise<string> => {
    const made = await started.call("POST /v1/keys", { key: admin, body: { role, on } });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body.key;
  };
  return { ...started, keyOf };
}

async function streamOf(t: TestContext, { server }: Place, apiKey: string): Promise<Broker> {
  const broker = await connectBroker(server.address, { apiKey });
  t.after(() => broker.close());
  return broker;
}

/** What each role may do with a queue: the status of the answer to a request. */
const REQUESTS: readonly [line: string, body: unknown, ...expected: [number, number, number]][] = [
  ["GET /v1/queues/orders.a", undefined, 200, 200, 200],
  ["GET /v1/queues/orders.a/jobs", undefined, 200, 200, 200],
  ["POST /v1/queues/orders.a/jobs", { payload: 1 }, 403, 201, 201],
  ["POST /v1/queues/orders.a/pause", undefined, 403, 204, 204],
  ["POST /v1/queues/orders.a/purge", undefined, 403, 204, 204],
  ["POST /v1/queues/orders.a/lease", { max: 1 }, 403, 403, 200],
  ["PUT /v1/queues/orders.a", { lease: 5000 }, 403, 403, 200],
  ["PUT /v1/gates/smtp", { concurrency: 1 }, 403, 403, 200],
  ["DELETE /v1/queues/orders.a", undefined, 403, 403, 200],
];

test("over HTTP each role does what it says and no more", async (t) => {
  const { call, keyOf } = await place(t);
  for (const [i, role] of ["viewer", "operator", "admin"].entries()) {
    const key = await keyOf(role);
    for (const [line, body, ...expected] of REQUESTS) {
      const options: CallOptions = body === undefined ? { key } : { key, body };
      const { status, body: answer } = await call(line, options);
      assert.equal(status, expected[i], `${role}: ${line}: ${JSON.stringify(answer)}`);
    }
  }
});

test("over a stream a viewer reads, and an operator acts on jobs of its queues", async (t) => {
  const at = await place(t);
  const viewer = await streamOf(t, at, await at.keyOf("viewer"));
  const operator = await streamOf(t, at, await at.keyOf("operator", "orders.*"));
  const refused = { code: "FORBIDDEN" };
  const id = await addTo(operator, "orders.a");
  assert.equal((await viewer.job(id)).queue, "orders.a");
  assert.equal((await viewer.findJobs({ queues: ["orders.*"] })).items.length, 1);
  await assert.rejects(viewer.add("orders.a", [{ payload }]), refused);
  await assert.rejects(viewer.startBulk("cancel", { queues: ["orders.a"] }), refused);
  assert.equal((await viewer.cancel([id]))[0]?.error?.code, "FORBIDDEN");
  await assert.rejects(operator.lease("orders.a", { max: 1 }), refused);
  const other = await addTo(at.broker, "payments");
  await assert.rejects(operator.job(other), { code: "JOB_NOT_FOUND" });
  assert.equal((await operator.cancel([id]))[0]?.ok, true);
});

async function addTo(broker: Broker, queue: string): Promise<string> {
  const [outcome] = await broker.add(queue, [{ payload }]);
  return outcome!.ok!.id;
}

test("a role that does not exist, or beside grants, is refused by name", async (t) => {
  const { call, server } = await place(t);
  const { key } = (await server.firstKey)!;
  const boss = await call("POST /v1/keys", { key, body: { role: "boss" } });
  assert.deepEqual([boss.status, boss.body.error.code], [400, "INVALID"]);
  const both = { role: "viewer", grants: [{ action: "view", on: "*" }] };
  assert.equal((await call("POST /v1/keys", { key, body: both })).status, 400);
  assert.equal((await call("POST /v1/keys", { key, body: {} })).status, 400);
});

test("a role is changed at once, and no key gives a higher one than its own", async (t) => {
  const { call, server, keyOf } = await place(t);
  const { key } = (await server.firstKey)!;
  const made = await call("POST /v1/keys", { key, body: { role: "viewer" } });
  const pause = () => call("POST /v1/queues/orders.a/pause", { key: made.body.key });
  assert.equal((await pause()).status, 403);
  await call(`PUT /v1/keys/${made.body.id}`, { key, body: { role: "operator" } });
  assert.equal((await pause()).status, 204);
  const operator = await keyOf("operator");
  const raised = await call("POST /v1/keys", { key: operator, body: { role: "admin" } });
  assert.equal(raised.status, 403);
});

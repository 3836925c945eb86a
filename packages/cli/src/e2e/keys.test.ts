import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import { test } from "node:test";
import type { LeasedJob } from "@sluice/protocol";
import { type Answer, call } from "@sluice/server/testing/start";
import { addAll, codesOf, job } from "../testing/jobs.ts";
import { command } from "../testing/sluice.ts";
import { runSluice, type Spawned, spawnServe } from "../testing/spawn-serve.ts";

const FAILURES_PER_MINUTE = 10;

type Grants = { action: string; on: string }[];

function asked(server: Spawned, line: string, body?: unknown, key?: string): Promise<Answer> {
  return call(server.address, line, { body, key });
}

async function newKey(server: Spawned, grants: Grants): Promise<{ id: string; key: string }> {
  const { status, body } = await asked(server, "POST /v1/keys", { name: "k", grants }, server.key);
  assert.equal(status, 201);
  return body;
}

test("keys: none is refused, and each may do what it says and no more", async (t) => {
  const server = await spawnServe(t, ["--durability", "os", "--keys"]);
  const { broker } = await server.connect();
  for (const queue of ["orders.new", "payments"]) await broker.setQueue(queue, {});
  await assert.rejects(server.connect(""), { code: "UNAUTHORIZED" });
  const line = "POST /v1/queues/orders.new/jobs";
  assert.equal((await asked(server, line, { payload: 1 })).status, 401);

  const { key } = await newKey(server, [{ action: "produce", on: "orders.*" }]);
  const producer = (await server.connect(key)).broker;
  await addAll(producer, "orders.new", [job("x")]);
  const ignore = (): void => {};
  const consuming = producer.consume("orders.new", { worker: "w", credits: 1 }, ignore);
  await assert.rejects(consuming, { code: "FORBIDDEN" });
  await assert.rejects(producer.lease("orders.new", { max: 1 }), { code: "FORBIDDEN" });
  await assert.rejects(producer.add("payments", [job("x")]), { code: "FORBIDDEN" });
  assert.equal((await asked(server, line, { payload: 1 }, key)).status, 201);
  assert.equal(
    (await asked(server, "POST /v1/queues/payments/jobs", { payload: 1 }, key)).status,
    403,
  );

  const scoped = await newKey(server, [{ action: "admin", on: "orders.*" }]);
  const grant = async (action: string, on: string): Promise<number> =>
    (await asked(server, "POST /v1/keys", { name: "n", grants: [{ action, on }] }, scoped.key))
      .status;
  assert.equal(await grant("produce", "orders.eu"), 201);
  assert.equal(await grant("produce", "payments"), 403);
  assert.equal(await grant("admin", "*"), 403);
});

test("the command line makes keys with roles, and refuses a role beside grants", async (t) => {
  const server = await spawnServe(t, ["--durability", "memory", "--keys"]);
  await (await server.connect()).broker.setQueue("orders.a", {});
  const env = { SLUICE_URL: server.address, SLUICE_API_KEY: server.key! };
  const role = ["--role", "viewer:orders.*"];
  const { text } = await command(["keys", "create", ...role, "--json"], { env });
  const { id, key, grants } = JSON.parse(text);
  assert.deepEqual(grants, [{ action: "view", on: "orders.*" }]);
  assert.equal((await asked(server, "POST /v1/queues/orders.a/pause", undefined, key)).status, 403);
  const set = await command(["keys", "set", id, "--role", "operator:orders.*"], { env });
  assert.match(set.text, /may now: operate:orders\.\*/);
  assert.equal((await asked(server, "POST /v1/queues/orders.a/pause", undefined, key)).status, 204);
  const both = await runSluice(["keys", "create", ...role, "--grant", "view:a"], env);
  assert.equal(both.code, 2);
});

test("wrong keys are counted, whichever way they come, and right ones go through", async (t) => {
  const server = await spawnServe(t, ["--durability", "memory", "--keys"]);
  const tries = Array.from({ length: FAILURES_PER_MINUTE + 1 }, (_, i) => `sk_wrong_${i}`);
  const codes: string[] = [];
  for (const key of tries) await server.connect(key).catch(({ code }) => codes.push(code));
  assert.equal(codes.pop(), "RATE_LIMITED");
  assert.deepEqual(new Set(codes), new Set(["UNAUTHORIZED"]));
  assert.equal((await asked(server, "GET /v1/queues", undefined, "sk_wrong")).status, 429);
  await server.connect();
});

test("a revoked key is refused on its open stream, which is sent nothing more", async (t) => {
  const server = await spawnServe(t, ["--durability", "os", "--keys"]);
  const { broker } = await server.connect();
  await broker.setQueue("q", {});
  const { id, key } = await newKey(server, [{ action: "consume", on: "q" }]);
  const consumer = (await server.connect(key)).broker;
  const got: LeasedJob[] = [];
  const first = Promise.withResolvers<void>();
  await consumer.consume("q", { worker: "revoked", credits: 10 }, (jobs) => {
    got.push(...jobs);
    first.resolve();
  });
  await addAll(broker, "q", [job("before")]);
  await first.promise;
  const env = { SLUICE_URL: server.address, SLUICE_API_KEY: server.key! };
  assert.equal((await runSluice(["keys", "revoke", id], env)).code, 0);
  await addAll(broker, "q", [job("after")]);
  const [other] = await broker.lease("q", { max: 1, wait: 10_000 });
  assert.equal(other?.attempt, 0, "someone else gets it, and no attempt is lost");
  await assert.rejects(consumer.ack([{ lease: got[0]!.lease }]), { code: "UNAUTHORIZED" });
  assert.equal(got.length, 1);
  assert.deepEqual(codesOf(await broker.ack([{ lease: got[0]!.lease }])), ["ok"]);
});

test("a page of another origin cannot reach a keyless server", async (t) => {
  const server = await spawnServe(t, ["--durability", "memory"]);
  await (await server.connect()).broker.setQueue("q", {});
  const page = { origin: "https://evil.example" };
  const line = "POST /v1/queues/q/jobs";
  assert.equal(
    (await call(server.address, line, { body: { payload: 1 }, headers: page })).status,
    403,
  );
  const simple = { ...page, "content-type": "text/plain" };
  assert.equal(
    (await call(server.address, line, { body: { payload: 1 }, headers: simple })).status,
    403,
  );
  const rebound = await fetch(`${server.address}/v1/queues`, { headers: page });
  assert.equal(rebound.headers.get("access-control-allow-origin"), null);
  const upgrade = { connection: "upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
  const key = { "sec-websocket-key": "c2x1aWNlIHNsdWljZSBzbA==" };
  const asking = request(`${server.address}/v1/stream`, {
    headers: { ...upgrade, ...key, ...page },
  });
  asking.end();
  const [response] = await once(asking, "response");
  response.resume();
  assert.equal(response.statusCode, 403);
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { SluiceHandles } from "@sluice/client";
import { SystemClock } from "@sluice/protocol";
import { start } from "../testing/start.ts";

test("what HTTP adds a worker in the process reads, and the other way round", async (t) => {
  const { broker, call } = await start(t);
  const sluice = new SluiceHandles({ port: broker, clock: new SystemClock() });
  const mail = await sluice.queue<unknown, unknown>("mail");
  const worker = mail.work(({ payload, headers }) => ({ got: payload, headers }));
  for (const payload of [{ to: "x" }, null, "ü", [1, 2.5]]) {
    const headers = { tenant: "acme" };
    const { body } = await call("POST /v1/queues/mail/jobs", { body: { payload, headers } });
    await sluice.job(body.id).finished();
    const { body: job } = await call(`GET /v1/jobs/${body.id}`);
    assert.deepEqual(job.result, { got: payload, headers });
  }
  await worker.close();
  await mail.add({ from: "here" });
  const { body } = await call("POST /v1/queues/mail/lease", { body: {} });
  assert.deepEqual(body.jobs[0].payload, { from: "here" });
  const bytes = await sluice.queue<Uint8Array>("bytes", { codec: "bytes" });
  await bytes.add(new Uint8Array([0, 255]));
  const raw = await call("POST /v1/queues/bytes/lease", { body: {} });
  assert.equal(raw.body.jobs[0].payloadBase64, "AP8=");
});

test("adds that are sent before the first is answered are all taken, in order", async (t) => {
  const { broker, server } = await start(t, { queues: ["q"] });
  const socket = connect(server.port, "127.0.0.1");
  const bodies = [1, 2, 3].map((payload) => JSON.stringify({ payload }));
  const head =
    "POST /v1/queues/q/jobs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json";
  const requests = bodies.map((body) => `${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  socket.write(requests.join(""));
  let text = "";
  while ((text.match(/HTTP\/1\.1/g) ?? []).length < bodies.length || !text.endsWith("}")) {
    text += String((await once(socket, "data"))[0]);
  }
  socket.destroy();
  assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), Array(3).fill("HTTP/1.1 201"));
  const jobs = await broker.lease("q", { max: 4 });
  assert.deepEqual(
    jobs.map(({ payload }) => Buffer.from(payload).toString()),
    ["1", "2", "3"],
  );
});

test("an Idempotency-Key gets the first answer again", async (t) => {
  const { broker, call } = await start(t, { queues: ["q"] });
  const send = (key: string) =>
    call("POST /v1/queues/q/jobs", { body: { payload: 1 }, headers: { "idempotency-key": key } });
  const first = await send("a");
  assert.deepEqual([first.status, (await send("a")).body], [201, first.body]);
  assert.notEqual((await send("b")).body.id, first.body.id);
  assert.equal((await broker.queue("q")).stats.waiting, 2);
});

test("an Idempotency-Key with another payload is a CONFLICT that names the key", async (t) => {
  const { call } = await start(t, { queues: ["q"] });
  const send = (payload: number) => {
    const headers = { "idempotency-key": "order-7" };
    return call("POST /v1/queues/q/jobs", { body: { payload }, headers });
  };
  await send(1);
  const { status, body } = await send(2);
  assert.deepEqual([status, body.error.code], [409, "CONFLICT"]);
  assert.deepEqual(body.error.details, { field: "operationId", value: "order-7" });
  assert.match(body.error.message, /^operation id "order-7" was already used/);
});

test("a duplicate is 200, a dropped job has no id, a full queue says when to return", async (t) => {
  const { broker, call } = await start(t);
  const add = (queue: string, options = {}) =>
    call(`POST /v1/queues/${queue}/jobs`, { body: { payload: 1, ...options } });
  await broker.setQueue("q", {});
  const dedupe = { key: "k", mode: "pending" };
  const { body } = await add("q", { dedupe });
  const again = await add("q", { dedupe });
  assert.deepEqual([again.status, again.body.id, again.body.duplicate], [200, body.id, true]);
  await broker.setQueue("drops", { capacity: { jobs: 1 }, onFull: "drop" });
  await add("drops");
  const dropped = await add("drops");
  assert.deepEqual([dropped.status, dropped.body], [200, { tier: 3, dropped: true }]);
  await broker.setQueue("full", { capacity: { jobs: 1 } });
  await add("full");
  const full = await add("full");
  assert.deepEqual([full.status, full.body.error.code], [429, "QUEUE_FULL"]);
  assert.ok(Number(full.headers.get("retry-after")) >= 1);
  assert.ok(full.body.error.retryAfterMs > 0);
});

test("each job of a batch has its own answer, whatever is wrong with the others", async (t) => {
  const { broker, call } = await start(t, { queues: ["q"] });
  const jobs = [
    { payload: 1 },
    { payload: 1, payloadBase64: "AA==" },
    {},
    { payloadBase64: "?" },
    { payload: 1, cost: 0 },
    { payload: 2 },
  ];
  const { status, body } = await call("POST /v1/queues/q/jobs", { body: { jobs } });
  assert.equal(status, 200);
  const codes = body.results.map(
    (result: { error?: { code: string } }) => result.error?.code ?? "ok",
  );
  assert.deepEqual(codes, ["ok", "INVALID", "INVALID", "INVALID", "INVALID", "ok"]);
  assert.equal((await broker.queue("q")).stats.waiting, 2);
  const nothing = await call("POST /v1/queues/q/jobs", { body: {} });
  assert.deepEqual([nothing.status, nothing.body.error.details], [400, { field: "payload" }]);
});

test("a trace continues from the producer to the worker", async (t) => {
  const { call } = await start(t, { queues: ["q"] });
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const headers = { traceparent };
  await call("POST /v1/queues/q/jobs", { body: { payload: 1 }, headers });
  const own = { payload: 1, headers: { traceparent: "own" } };
  await call("POST /v1/queues/q/jobs", { body: own, headers });
  const { body } = await call("POST /v1/queues/q/lease", { body: { max: 2 } });
  const traces = body.jobs.map((job: { headers: object }) => job.headers);
  assert.deepEqual(traces, [{ traceparent }, { traceparent: "own" }]);
});

test("a payload as large as allowed goes in and out, and a larger one is refused", async (t) => {
  const { call } = await start(t, { queues: ["q"] });
  const payloadOf = (bytes: number) => "x".repeat(bytes - 2);
  const max = 1024 * 1024;
  const over = await call("POST /v1/queues/q/jobs", { body: { payload: payloadOf(max + 1) } });
  assert.deepEqual([over.status, over.body.error.code], [413, "PAYLOAD_TOO_LARGE"]);
  const { body } = await call("POST /v1/queues/q/jobs", { body: { payload: payloadOf(max) } });
  const { body: list } = await call("GET /v1/queues/q/jobs");
  assert.equal(list.items[0].payloadStart.length, 256, "a list tells how it begins");
  assert.equal(list.items[0].payloadBytes, max);
  const { body: job } = await call(`GET /v1/jobs/${body.id}`);
  assert.equal(job.payload.length, max - 2);
});

test("lists of jobs and lanes go on page by page", async (t) => {
  const { call } = await start(t, { queues: ["q"] });
  const jobs = Array.from({ length: 25 }, (_, i) => ({ payload: i, fairnessKey: `t${i}` }));
  await call("POST /v1/queues/q/jobs", { body: { jobs } });
  for (const path of [
    "jobs?state=waiting&limit=10",
    "lanes?limit=10",
    "lanes?sort=weight&limit=10",
  ]) {
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const after = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await call(`GET /v1/queues/q/${path}${after}`);
      for (const item of body.items) seen.add(item.id ?? item.key);
      cursor = body.cursor;
    } while (cursor !== undefined);
    assert.equal(seen.size, 25, path);
  }
  for (const path of [
    "jobs?cursor=x",
    "lanes?cursor=x",
    "lanes?sort=weight&cursor=x",
    "lanes?sort=x",
  ]) {
    assert.equal((await call(`GET /v1/queues/q/${path}`)).body.error.code, "INVALID", path);
  }
});

test("a lane in an address is its key, or JSON for a path", async (t) => {
  const { call } = await start(t, { queues: ["q"] });
  for (const fairnessKey of ["a b/ü", ["acme", "u"], "[x]"]) {
    const { status } = await call("POST /v1/queues/q/jobs", { body: { payload: 1, fairnessKey } });
    assert.equal(status, 201);
  }
  const lanes = ["a b/ü", '["acme","u"]', '"[x]"'].map(encodeURIComponent);
  for (const lane of lanes) {
    const line = `PUT /v1/queues/q/lanes/${lane}`;
    assert.equal((await call(line, { body: { weight: 7 } })).status, 204, lane);
    const { body } = await call(`GET /v1/queues/q/jobs?lane=${lane}`);
    assert.equal(body.items.length, 1, lane);
  }
  const { body } = await call("GET /v1/queues/q/lanes");
  const weights = body.items.map(({ weight }: { weight: number }) => weight);
  assert.deepEqual(weights, [7, 7, 7]);
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import type { Broker } from "@sluice/protocol";
import { payload, start } from "../testing/start.ts";

/** Resolves when `count` workers wait for a job of the queue; with 0, when none does any more. */
async function untilWaiting(broker: Broker, queue: string, count: number): Promise<void> {
  while ((await broker.queue(queue)).stats.freeWorkers !== count) await new Promise(setImmediate);
}

test("a poll is answered as soon as there is a job", async (t) => {
  const { broker, call } = await start(t, { queues: ["q"] });
  const poll = call("POST /v1/queues/q/lease", { body: { max: 5, wait: "20s", lease: "1h" } });
  await untilWaiting(broker, "q", 5);
  await broker.add("q", [{ payload }]);
  const { body } = await poll;
  assert.equal(body.jobs.length, 1);
  await untilWaiting(broker, "q", 0);
});

test("a poll that finds nothing is answered with nothing when its time is over", async (t) => {
  const { call } = await start(t, { queues: ["q"] });
  const { status, body } = await call("POST /v1/queues/q/lease", { body: { wait: 20 } });
  assert.deepEqual([status, body], [200, { jobs: [] }]);
  const long = await call("POST /v1/queues/q/lease", { body: { wait: 60_001 } });
  assert.equal(long.body.error.code, "INVALID");
});

test("a client that disconnects while polling takes no job with it", async (t) => {
  const { broker, server } = await start(t, { queues: ["q"] });
  const giveUp = new AbortController();
  const poll = fetch(`${server.address}/v1/queues/q/lease`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ wait: 60_000, max: 3 }),
    signal: giveUp.signal,
  });
  await untilWaiting(broker, "q", 3);
  giveUp.abort();
  await assert.rejects(poll);
  await untilWaiting(broker, "q", 0);
  const [added] = await broker.add("q", [{ payload }]);
  assert.equal((await broker.job(added!.ok!.id)).state, "waiting");
});

test("jobs that could not be sent go back, and lose no attempt", async (t) => {
  const { broker, server } = await start(t, { queues: ["q"] });
  const body = "x".repeat(1024 * 1024 - 2);
  const big = new TextEncoder().encode(JSON.stringify(body));
  await broker.add(
    "q",
    Array.from({ length: 12 }, () => ({ payload: big })),
  );
  const socket = connect(server.port, "127.0.0.1");
  await once(socket, "connect");
  const asked = '{"max":12}';
  socket.pause();
  socket.write(
    "POST /v1/queues/q/lease HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n" +
      `content-length: ${asked.length}\r\n\r\n${asked}`,
  );
  while ((await broker.queue("q")).stats.running === 0) await new Promise(setImmediate);
  socket.destroy();
  while ((await broker.queue("q")).stats.waiting !== 12) await new Promise(setImmediate);
  const { items } = await broker.jobs("q");
  assert.ok(items.every(({ attempt }) => attempt === 0));
});

test("one answer carries a bounded amount; the rest stays in the queue", async (t) => {
  const { broker, call } = await start(t, { queues: ["q"] });
  const big = new Uint8Array(1024 * 1024);
  await broker.add(
    "q",
    Array.from({ length: 20 }, () => ({ payload: big })),
  );
  const { body } = await call("POST /v1/queues/q/lease", { body: { max: 20 } });
  assert.equal(body.jobs.length, 16);
  const { stats } = await broker.queue("q");
  assert.deepEqual([stats.running, stats.waiting], [16, 4]);
});

test("a second ack, an old lease and an unknown job each have a code of their own", async (t) => {
  const { broker, call } = await start(t);
  await broker.setQueue("q", { retry: { min: 0, max: 0 } });
  await broker.add("q", [{ payload }, { payload }]);
  const take = async () => (await call("POST /v1/queues/q/lease", { body: {} })).body.jobs[0];
  const ack = async (lease: string) => {
    const { body } = await call("POST /v1/ack", { body: { items: [{ lease }] } });
    return body.results[0].error?.code ?? "ok";
  };
  const done = await take();
  assert.equal(await ack(done.lease), "ok");
  assert.equal(await ack(done.lease), "ALREADY_FINISHED");
  const failed = await take();
  await call("POST /v1/nack", { body: { items: [{ lease: failed.lease, error: "boom" }] } });
  const again = await take();
  assert.deepEqual([again.id, again.attempt], [failed.id, 1]);
  assert.equal(await ack(failed.lease), "LEASE_LOST");
  assert.equal(await ack("c999.1"), "JOB_NOT_FOUND");
});

test("a server that closes answers open polls", async (t) => {
  const { broker, call, server } = await start(t, { queues: ["q"] });
  const poll = call("POST /v1/queues/q/lease", { body: { wait: 60_000 } });
  await untilWaiting(broker, "q", 1);
  await server.close();
  assert.deepEqual((await poll).body, { jobs: [] });
});

test("returns bytes when bytes are asked for", async (t) => {
  const { broker, call } = await start(t, { queues: ["q"] });
  await broker.add("q", [{ payload }]);
  const { body } = await call("POST /v1/queues/q/lease", { body: { encoding: "base64" } });
  assert.equal(body.jobs[0].payloadBase64, Buffer.from("1").toString("base64"));
  const { body: job } = await call(`GET /v1/jobs/${body.jobs[0].id}?encoding=base64`);
  assert.equal(job.payloadBase64, body.jobs[0].payloadBase64);
});

test("a leased payload is sent as the bytes that were added", async (t) => {
  const { broker, server } = await start(t, { queues: ["q"] });
  const sent = '{"__proto__": 1, "n": 1.50, "n": 2}';
  await broker.add("q", [{ payload: Buffer.from(sent) }, { payload: Buffer.from([255]) }]);
  const answer = await fetch(`${server.address}/v1/queues/q/lease`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"max":2}',
  });
  const text = await answer.text();
  assert.match(String(answer.headers.get("content-type")), /application\/json/);
  assert.ok(text.includes(`"payload":${sent}`), text);
  assert.equal(JSON.parse(text).jobs[1].payloadBase64, "/w==");
});

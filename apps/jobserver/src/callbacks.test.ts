// Answers that are pushed: callbacks and event streams, against a real server process.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { receiver } from "@sluice/server/testing/loopback";
import { verifyWebhook } from "sluice/webhooks";
import { HARMFUL, Spawned } from "./testing/spawn.ts";

test("the end of a job is sent to its callback address, signed for its submitter", async (t) => {
  const to = await receiver(t);
  const server = await new Spawned(t, { CALLBACK_HOSTS: to.host }, HARMFUL).start();
  const more = { arguments: { n: 1 }, callback_url: to.url };
  const { uid } = (await server.add("echo", "alice", more)).body;
  const { headers, body } = await to.next();
  const { type, data } = JSON.parse(body);
  assert.equal(type, "job.succeeded");
  assert.deepEqual([data.uid, data.worker_id, data.type], [uid, "alice", "echo"]);
  assert.deepEqual([data.status, data.data, data.error], ["succeeded", { n: 1 }, null]);
  const { secret } = (await server.call("GET /job/callback-secret?worker_id=alice")).body;
  verifyWebhook(headers, body, secret);
  const other = (await server.call("GET /job/callback-secret?worker_id=bob")).body;
  assert.throws(() => verifyWebhook(headers, body, other.secret));
  await server.add("fail", "alice", { callback_url: to.url });
  const failed = JSON.parse((await to.next()).body);
  assert.equal(failed.type, "job.failed");
  assert.equal(failed.data.error, "TypeError: as it was asked to");
  await server.add("ignore", "alice", { callback_url: to.url, timeout_seconds: 0.05 });
  assert.equal(JSON.parse((await to.next()).body).type, "job.timeout");
  await server.add("wait", "alice", { arguments: 100_000 });
  const queued = await server.add("echo", "alice", { callback_url: to.url });
  await server.call(`DELETE /job/${queued.body.uid}`);
  assert.equal(JSON.parse((await to.next()).body).type, "job.cancelled");
});

test("a callback that is refused is sent again, also after the server was killed", async (t) => {
  const to = await receiver(t);
  to.status = 500;
  const server = await new Spawned(t, { CALLBACK_HOSTS: to.host }).start();
  const { uid } = (await server.add("echo", "a", { callback_url: to.url })).body;
  const first = await to.next();
  await server.kill();
  to.status = 204;
  await server.start();
  const again = await to.next();
  assert.equal(again.headers["webhook-id"], first.headers["webhook-id"]);
  assert.equal(JSON.parse(again.body).data.uid, uid);
});

test("a job that its server's third death ends is sent to its callback address", async (t) => {
  const to = await receiver(t);
  const server = await new Spawned(t, { CALLBACK_HOSTS: to.host }, HARMFUL).start();
  const { uid } = (await server.add("ignore", "a", { callback_url: to.url })).body;
  for (let death = 1; death <= 3; death++) {
    await server.until(({ tiers }) => tiers.slow.started === 1);
    await server.kill();
    await server.start();
  }
  const { type, data } = JSON.parse((await to.next()).body);
  assert.deepEqual([type, data.uid], ["job.failed", uid]);
  assert.equal((await server.status(uid)).status, "failed");
});

test("callback addresses of strangers must be public", async (t) => {
  const server = await new Spawned(t, {}).start();
  for (const callback_url of ["http://127.0.0.1/", "http://169.254.169.254/", "file:///x", ""]) {
    const { status, body } = await server.add("echo", "a", { callback_url });
    assert.equal(status, 400, callback_url);
    assert.equal(body.error.code, "INVALID");
    assert.equal(body.error.details.field, "callback_url");
    assert.match(body.error.message, /^callback_url /);
  }
});

test("a submitter's stream reports its own jobs, and no others", async (t) => {
  const key = "the-operator-has-made-this-long-key";
  const server = await new Spawned(t, { API_KEY: key }, HARMFUL).start();
  const operator = { authorization: `Bearer ${key}` };
  const made = await server.call("POST /keys", { worker_id: "alice" }, operator);
  const alice = { authorization: `Bearer ${made.body.key}` };
  const leave = new AbortController();
  t.after(() => leave.abort());
  const { signal } = leave;
  const answer = await fetch(`${server.address}/job/events`, { headers: alice, signal });
  assert.equal(answer.headers.get("content-type"), "text/event-stream");
  await server.call("POST /job/add", { type: "echo", worker_id: "bob" }, operator);
  const { uid } = (await server.call("POST /job/add", { type: "fail" }, alice)).body;
  let seen = "";
  for await (const part of answer.body!.pipeThrough(new TextDecoderStream())) {
    seen += part;
    if (seen.includes("event: failed")) break;
  }
  const events = seen.split("\n").filter((line) => line.startsWith("data: "));
  for (const line of events) {
    const { worker_id, uid: of } = JSON.parse(line.slice("data: ".length));
    assert.deepEqual([worker_id, of], ["alice", uid]);
  }
  assert.match(seen, /event: running\n[\s\S]*event: failed\n/);
  assert.equal((await server.call("GET /job/events?worker_id=bob", undefined, alice)).status, 403);
});

test("metrics tell how long jobs wait and run, and how many ran out of time", async (t) => {
  const server = await new Spawned(t, {}, HARMFUL).start();
  const { uid } = (await server.add("ignore", "a", { timeout_seconds: 0.05 })).body;
  assert.equal((await server.result(uid)).status, "timeout");
  const { body } = await server.call("GET /metrics");
  const of = '{tier="slow",type="ignore"}';
  for (const line of [
    `jobserver_wait_seconds_count${of} 1`,
    `jobserver_run_seconds_count${of} 1`,
    `jobserver_timeouts_total${of} 1`,
    "jobserver_running 0",
    "jobserver_priority_list_age_seconds -1",
  ]) {
    assert.ok(body.includes(line), line);
  }
  const panels = readFileSync(new URL("../../../deploy/grafana/jobserver.json", import.meta.url));
  for (const [name] of panels.toString().matchAll(/jobserver_[a-z_]+/g)) {
    assert.ok(body.includes(`\n${name}`), `the Grafana dashboard asks for ${name}`);
  }
});

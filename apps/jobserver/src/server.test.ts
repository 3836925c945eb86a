// The rows of the documentation against a real server process, over real HTTP.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { listEndpoint } from "./testing/list-endpoint.ts";
import { Spawned } from "./testing/spawn.ts";

const spawned = (t: TestContext, env: Record<string, string> = {}): Promise<Spawned> =>
  new Spawned(t, env).start();

async function many(count: number, one: (index: number) => Promise<unknown>): Promise<void> {
  const WIDTH = 50;
  for (let done = 0; done < count; done += WIDTH) {
    const size = Math.min(WIDTH, count - done);
    await Promise.all(Array.from({ length: size }, (_, i) => one(done + i)));
  }
}

test("a job's life over HTTP, from its submission to its result and its counts", async (t) => {
  const server = await spawned(t);
  const added = await server.add("echo", "me", { arguments: { hello: "world" } });
  assert.equal(added.status, 201);
  const { uid, queue } = added.body;
  assert.equal(queue, "slow");
  assert.deepEqual(await server.result(uid), {
    status: "succeeded",
    data: { hello: "world" },
    error: null,
  });
  const { body } = await server.call(`GET /job/status/${uid}`);
  assert.equal(body.status, "succeeded");
  assert.equal(body.attempts, 1);
  for (const field of ["queued_at", "started_at", "finished_at"]) {
    assert.match(body[field], /^\d{4}-\d\d-\d\dT.*Z$/, field);
  }
  const stats = await server.stats();
  const { fast_queue_depth, slow_queue_depth, fast_processed, slow_processed } = stats;
  assert.deepEqual(
    [fast_queue_depth, slow_queue_depth, fast_processed, slow_processed],
    [0, 0, 0, 1],
  );
  assert.match(stats.last_update, /^\d{4}-\d\d-\d\dT.*Z$/);
  assert.equal(stats.enabled, true);
  assert.equal(stats.tiers.slow.oldest_age_ms, null);
  const { body: metrics } = await server.call("GET /metrics");
  assert.match(metrics, /jobserver_succeeded_total\{tier="slow"\} 1/);
  assert.match(metrics, /jobserver_waiting\{tier="fast"\} 0/);
});

test("a failed job is no failed request, and a pending one is not unknown", async (t) => {
  const server = await spawned(t, { RESULT_CACHE_MAX_SIZE: "1" });
  const failed = await server.add("fail");
  assert.equal((await server.result(failed.body.uid)).status, "failed");
  await server.add("hold");
  const pending = await server.add("note");
  const { status, body } = await server.call(`GET /job/result/${pending.body.uid}`);
  assert.deepEqual([status, body.status], [200, "queued"]);
  assert.equal((await server.call(`GET /job/status/${pending.body.uid}`)).body.position, 1);
  assert.equal((await server.call("GET /job/status/zzzz")).status, 404);
  server.release();
  await server.result(pending.body.uid);
  assert.equal((await server.call(`GET /job/result/${failed.body.uid}`)).status, 410);
});

test("fast first, the 1001st spills, and when both are full: 429 and nothing stored", async (t) => {
  const server = await spawned(t, {
    PRIORITY_WORKER_IDS: "vip-1,vip-2,vip-3",
    SLOW_QUEUE_SIZE: "5",
    PRIORITY_SUBMITTER_SHARE: "0.5",
  });
  await server.add("hold");
  await server.add("note", "other", { arguments: "slow" });
  await many(1000, async (i) => {
    const { body } = await server.add("note", `vip-${(i % 2) + 1}`, { arguments: "fast" });
    assert.equal(body.queue, "fast");
  });
  const spilled = await server.add("note", "vip-3", { arguments: "spilled" });
  assert.equal(spilled.body.queue, "slow");
  for (const id of ["a", "b", "c"]) await server.add("note", id, { arguments: id });
  const full = await server.add("note", "d");
  assert.equal(full.status, 429);
  assert.equal(full.body.error.code, "QUEUE_FULL");
  assert.equal(full.body.uid, undefined);
  assert.ok(Number(full.headers["retry-after"]) >= 1);
  const { fast_queue_depth, slow_queue_depth } = await server.stats();
  assert.deepEqual([fast_queue_depth, slow_queue_depth], [1000, 5]);
  server.release();
  await server.result(spilled.body.uid);
  const { ran } = server;
  assert.deepEqual(new Set(ran.slice(0, 1000)), new Set(["fast"]));
});

test("2,500 jobs of one delay another by a turn, and the 2,501st is refused", async (t) => {
  const server = await spawned(t);
  await server.add("hold");
  await many(2500, async () => {
    assert.equal((await server.add("note", "greedy", { arguments: "greedy" })).status, 201);
  });
  assert.equal((await server.add("note", "greedy")).status, 429);
  const modest = await server.add("note", "modest", { arguments: "modest" });
  assert.equal(modest.status, 201);
  server.release();
  await server.result(modest.body.uid);
  assert.ok(server.ran.indexOf("modest") <= 1);
});

test("more tiers: the list says who goes where", async (t) => {
  const { url } = await listEndpoint(t, ["usual", { id: "best", tier: "vip" }]);
  const server = await spawned(t, {
    PRIORITY_TIERS: "vip:5,fast:10,slow:50",
    EXTERNAL_WORKER_ID_PRIORITY_ENDPOINT: url,
  });
  await server.until(({ priority_list }) => priority_list.last_refresh !== null);
  await server.add("hold");
  for (const [id, tier] of [
    ["best", "vip"],
    ["usual", "fast"],
    ["other", "slow"],
  ]) {
    assert.equal((await server.add("note", id)).body.queue, tier);
  }
  const stats = await server.stats();
  assert.deepEqual(
    [stats.vip_queue_depth, stats.fast_queue_depth, stats.slow_queue_depth],
    [1, 1, 1],
  );
});

test("the last good list outlives its endpoint and a restart", async (t) => {
  const list = await listEndpoint(t, ["vip"]);
  const server = await spawned(t, {
    EXTERNAL_WORKER_ID_PRIORITY_ENDPOINT: list.url,
    PRIORITY_REFRESH_INTERVAL_SECONDS: "1",
  });
  await server.until(({ priority_list }) => priority_list.size === 1);
  list.answer = (request) => void request.destroy();
  await server.until(({ priority_list }) => priority_list.last_error !== null);
  assert.equal((await server.stats()).priority_list.size, 1);
  assert.equal(await server.stop(), 0);
  await server.start();
  const { priority_list } = await server.stats();
  assert.deepEqual([priority_list.size, priority_list.source], [1, "disk"]);
  assert.equal((await server.add("echo", "vip")).body.queue, "fast");
});

test("kill -9 with 5,000 queued jobs loses none, and finished ones do not come back", async (t) => {
  const server = await spawned(t, { PRIORITY_SUBMITTER_SHARE: "1" });
  const done = await server.add("note", "w", { arguments: "before" });
  await server.result(done.body.uid);
  const held = await server.add("hold", "w");
  const uids = new Set<string>();
  await many(5000, async (i) => {
    const { status, body } = await server.add("note", "w", { arguments: i });
    assert.equal(status, 201);
    uids.add(body.uid);
  });
  assert.equal(uids.size, 5000);
  await server.kill();
  server.release();
  await server.start({ MAX_JOBS: "10", RESULT_CACHE_MAX_SIZE: "10000" });
  assert.equal((await server.status(done.body.uid)).status, "succeeded");
  // The job that was running is back at once, and has used an attempt.
  await server.until(({ slow_processed }) => slow_processed === 5001);
  const { status, attempts } = await server.status(held.body.uid);
  assert.deepEqual([status, attempts], ["succeeded", 2]);
  for (const uid of [[...uids][0]!, [...uids][4999]!]) {
    assert.equal((await server.result(uid)).status, "succeeded", uid);
  }
  // Each left its trace once: those that were queued, and the one that had ended before.
  const { ran } = server;
  assert.equal(ran.length, 5001);
  assert.equal(new Set(ran).size, 5001);
});

test("a server that is stopped lets the running job end, and keeps waiting jobs", async (t) => {
  const server = await spawned(t);
  const running = await server.add("hold");
  const waiting = await server.add("note", "w", { arguments: 1 });
  const stopping = server.stop();
  server.release();
  assert.equal(await stopping, 0);
  await server.start();
  assert.equal((await server.result(waiting.body.uid)).status, "succeeded");
  const { status, attempts } = await server.status(running.body.uid);
  assert.deepEqual([status, attempts], ["succeeded", 1]);
});

test("keeps the last good list and reports the error, whatever the endpoint answers", async (t) => {
  const list = await listEndpoint(t, ["vip"]);
  const server = await spawned(t, { EXTERNAL_WORKER_ID_PRIORITY_ENDPOINT: list.url });
  await server.until(({ priority_list }) => priority_list.size === 1);
  const bad: [error: RegExp, answer: typeof list.answer][] = [
    [/not JSON/, (_, response) => void response.end("<html></html>")],
    [/not JSON/, (_, response) => void response.end()],
    [/"workers"/, (_, response) => void response.end("{}")],
    [/bytes/, (_, response) => void response.end(`{"workers":[${'"a1",'.repeat(1e6)}"a"]}`)],
    [/answered 500/, (_, response) => void response.writeHead(500).end("{}")],
    [
      /not a public address|not called/,
      (_, response) => void response.writeHead(302, { location: server.address }).end(),
    ],
    [/./, (request) => void request.destroy()],
  ];
  for (const [error, answer] of bad) {
    list.answer = answer;
    const { body } = await server.call("POST /v1/apps/jobserver/actions/refresh", {});
    assert.match(body.message, error);
    const { priority_list } = await server.stats();
    assert.match(priority_list.last_error, error);
    assert.equal(priority_list.size, 1);
    assert.equal((await server.add("echo", "vip")).body.queue, "fast");
  }
  assert.match(server.said, /Priority list not updated, the last good one stays/);
});

test("its page is on its own server", async (t) => {
  const server = await spawned(t, { PRIORITY_WORKER_IDS: "a,b" });
  await server.add("hold");
  await server.add("note", "<b>");
  assert.deepEqual((await server.call("GET /v1/apps")).body.items, [
    { name: "jobserver", title: "Job server" },
  ]);
  const { body } = await server.call("GET /v1/apps/jobserver");
  const [tiers, submitters, list] = body.view.sections;
  assert.deepEqual(tiers.rows[1].slice(0, 4), ["slow", 1, 5000, 2]);
  assert.ok(submitters.rows.some((row: unknown[]) => row[0] === "<b>" && row[2] === 1));
  assert.deepEqual(list.facts[0], { label: "workers", value: 2 });
});

test("if an API key is set, every call but the probes needs it", async (t) => {
  const key = "a-key-that-is-long-enough-to-be-one";
  const server = await spawned(t, { API_KEY: key });
  for (const line of ["GET /job/queue/stats", "GET /metrics", "GET /job/status/a1"]) {
    assert.equal((await server.call(line)).status, 401, line);
  }
  for (const headers of [{ authorization: `Bearer ${key}` }, { "x-api-key": key }]) {
    const { status } = await server.call("GET /job/queue/stats", undefined, headers);
    assert.equal(status, 200);
  }
  for (const line of ["GET /healthz", "GET /readyz"]) {
    assert.equal((await server.call(line)).status, 200, line);
  }
  assert.doesNotMatch(server.said, new RegExp(key));
});

test("bad calls get a clear error, http-get stays outside, and the server stays up", async (t) => {
  const server = await spawned(t);
  const bad: [string, unknown, number][] = [
    ["POST /job/add", "{", 400],
    ["POST /job/add", { type: "nope" }, 400],
    ["POST /job/add", { type: "echo", arguments: "x".repeat(1024 * 1024) }, 413],
    ["GET /job/result/b1?wait_seconds=61", undefined, 400],
    ["GET /nowhere", undefined, 404],
  ];
  for (const [line, body, status] of bad) {
    const answer = await server.call(line, body);
    assert.equal(answer.status, status, line);
    assert.equal(typeof answer.body.error.message, "string");
  }
  const inwards = await server.add("http-get", "w", { arguments: { url: server.address } });
  const { status, error } = await server.result(inwards.body.uid);
  assert.equal(status, "failed");
  assert.match(error, /not called|not a public address/);
  const { uid } = (await server.add("echo")).body;
  for (let i = 0; i < 20; i++) await server.result(uid);
  assert.equal(await server.stop(), 0);
  assert.doesNotMatch(server.said, /MaxListeners/, "polls leave nothing on their connection");
});

// Each variable by itself, against a real server process.

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { listEndpoint } from "./testing/list-endpoint.ts";
import { Spawned } from "./testing/spawn.ts";

const spawned = (t: TestContext, env: Record<string, string>): Promise<Spawned> =>
  new Spawned(t, env).start();

// Where jobs of these submitters go.
async function tiersOf(server: Spawned, ids: readonly string[]): Promise<string[]> {
  const answers = await Promise.all(ids.map((id) => server.add("echo", id)));
  return answers.map(({ body }) => body.queue);
}

// Two at a time: most of it is waiting for a process to start.
suite("variables", { concurrency: 2 }, () => {
  test("ENABLE_PRIORITY_QUEUE=false: one tier, over a directory that had two", async (t) => {
    const server = await spawned(t, { PRIORITY_WORKER_IDS: "vip" });
    await server.add("hold");
    const fast = await server.add("note", "vip");
    assert.equal(fast.body.queue, "fast");
    await server.kill();
    server.release();
    await server.start({ ENABLE_PRIORITY_QUEUE: "false" });
    assert.deepEqual(await tiersOf(server, ["vip", "other"]), ["slow", "slow"]);
    assert.equal((await server.result(fast.body.uid)).status, "succeeded");
    const { enabled, tiers } = await server.stats();
    assert.deepEqual([enabled, Object.keys(tiers), tiers.slow.capacity], [false, ["slow"], 6000]);
  });

  test("FAST_QUEUE_SIZE and SLOW_QUEUE_SIZE: the third spills, and then it is full", async (t) => {
    const server = await spawned(t, {
      FAST_QUEUE_SIZE: "2",
      SLOW_QUEUE_SIZE: "1",
      PRIORITY_SUBMITTER_SHARE: "1",
      PRIORITY_WORKER_IDS: "vip",
    });
    await server.add("hold");
    const answers: unknown[] = [];
    for (let i = 0; i < 4; i++) {
      const { status, body } = await server.add("note", "vip");
      answers.push(body.queue ?? status);
    }
    assert.deepEqual(answers, ["fast", "fast", "slow", 429]);
  });

  test("PRIORITY_TIERS: every tier is reported under its name", async (t) => {
    const server = await spawned(t, { PRIORITY_TIERS: "vip:1,fast:2,slow:3" });
    const stats = await server.stats();
    for (const [name, capacity] of Object.entries({ vip: 1, fast: 2, slow: 3 })) {
      assert.equal(stats.tiers[name].capacity, capacity);
      assert.equal(stats[`${name}_queue_depth`], 0);
      assert.equal(stats[`${name}_processed`], 0);
    }
    assert.equal(stats.last_update, null);
  });

  test("the endpoint, PRIORITY_REFRESH_INTERVAL_SECONDS and LOG_LEVEL", async (t) => {
    const list = await listEndpoint(t, ["a"]);
    const server = await spawned(t, {
      EXTERNAL_WORKER_ID_PRIORITY_ENDPOINT: list.url,
      PRIORITY_REFRESH_INTERVAL_SECONDS: "1",
      LOG_LEVEL: "info",
    });
    await server.until(({ priority_list }) => priority_list.size === 1);
    list.answer = (_request, response) => void response.end('{"workers":["a","b"]}');
    await server.until(({ priority_list }) => priority_list.size === 2);
    assert.deepEqual(await tiersOf(server, ["b", "c"]), ["fast", "slow"]);
    await server.stop();
    assert.match(server.said, /Priority list updated with 1 workers from external endpoint/);
    assert.match(server.said, /Priority list updated with 2 workers from external endpoint/);
    await server.start({ LOG_LEVEL: "warn" });
    await server.until(({ priority_list }) => priority_list.source === "endpoint");
    await server.stop();
    assert.doesNotMatch(server.said, /Priority list/);
  });

  test("PRIORITY_WORKER_IDS: these go first, by their whole names", async (t) => {
    const server = await spawned(t, { PRIORITY_WORKER_IDS: "a, http://b" });
    const ids = ["a", "http://b", "b", "worker-001"];
    assert.deepEqual(await tiersOf(server, ids), ["fast", "fast", "slow", "slow"]);
  });

  test("PRIORITY_DUMMY_DATA=true: the eight names go first", async (t) => {
    const server = await spawned(t, { PRIORITY_DUMMY_DATA: "true" });
    assert.deepEqual(await tiersOf(server, ["worker-001", "worker-003"]), ["fast", "slow"]);
    const { size, source } = (await server.stats()).priority_list;
    assert.deepEqual([size, source], [8, "dummy"]);
  });

  test("PRIORITY_MATCH=host: the path and the scheme do not matter", async (t) => {
    const ids = ["https://10.0.0.1:50035/x", "10.0.0.1:50035", "10.0.0.1:1"];
    const env = { PRIORITY_WORKER_IDS: "https://10.0.0.1:50035" };
    const server = await spawned(t, { ...env, PRIORITY_MATCH: "host" });
    assert.deepEqual(await tiersOf(server, ids), ["fast", "fast", "slow"]);
  });

  test("PRIORITY_SLOW_SHARE: the slow tier has its part of every stretch", async (t) => {
    const server = await spawned(t, { PRIORITY_SLOW_SHARE: "0.25", PRIORITY_WORKER_IDS: "vip" });
    await server.add("hold");
    for (let i = 0; i < 30; i++) await server.add("note", "vip", { arguments: "fast" });
    for (let i = 0; i < 8; i++) await server.add("note", "other", { arguments: "slow" });
    server.release();
    await server.until(({ fast_processed }) => fast_processed === 30);
    const { ran } = server;
    for (let length = 1; length <= 32; length++) {
      const slow = ran.slice(0, length).filter((tier) => tier === "slow").length;
      assert.ok(Math.abs(slow - length / 4) <= 2, `${slow} of the first ${length}`);
    }
  });

  test("PRIORITY_MAX_WAIT_SECONDS: an old job goes before newer fast ones", async (t) => {
    const server = await spawned(t, {
      PRIORITY_MAX_WAIT_SECONDS: "1",
      PRIORITY_WORKER_IDS: "vip",
    });
    await server.add("hold");
    const old = await server.add("note", "other", { arguments: "old" });
    assert.equal(old.body.queue, "slow");
    await server.until(({ fast_queue_depth }) => fast_queue_depth === 1);
    for (let i = 0; i < 20; i++) await server.add("note", "vip", { arguments: "fast" });
    server.release();
    await server.until(({ fast_queue_depth }) => fast_queue_depth === 0);
    assert.ok(server.ran.indexOf("old") <= 1, String(server.ran));
  });

  test("PRIORITY_SUBMITTER_SHARE: beyond it a submitter is refused alone", async (t) => {
    const server = await spawned(t, { PRIORITY_SUBMITTER_SHARE: "0.2", SLOW_QUEUE_SIZE: "10" });
    await server.add("hold");
    const status = async (id: string): Promise<number> => (await server.add("note", id)).status;
    assert.deepEqual([await status("a"), await status("a"), await status("a")], [201, 201, 429]);
    assert.equal(await status("b"), 201);
  });

  test("QUEUE_SIZING=auto: capacity moves to where jobs wait, and stats say so", async (t) => {
    const server = await spawned(t, {
      QUEUE_SIZING: "auto",
      FAST_QUEUE_SIZE: "4",
      SLOW_QUEUE_SIZE: "20",
      PRIORITY_SUBMITTER_SHARE: "1",
      PRIORITY_WORKER_IDS: "vip",
      LOG_LEVEL: "info",
    });
    await server.add("hold");
    for (let i = 0; i < 10; i++) await server.add("note", "vip");
    await server.until(({ tiers }) => tiers.fast.capacity > 4);
    const { fast, slow } = (await server.stats()).tiers;
    assert.ok(fast.capacity <= 8);
    assert.equal(fast.capacity + slow.capacity, 24);
    assert.equal((await server.add("note", "vip")).body.queue, "fast");
    assert.match(server.said, /sizes of the tiers are now fast \d+, slow \d+/);
  });

  test("MAX_JOBS and MAX_JOBS_MAX: so many at once, and more under load", async (t) => {
    const server = await spawned(t, { MAX_JOBS: "2" });
    for (let i = 0; i < 5; i++) await server.add("hold");
    await server.until(({ tiers }) => tiers.slow.started === 2);
    assert.equal((await server.stats()).slow_queue_depth, 3);
    const elastic = await spawned(t, { MAX_JOBS: "2", MAX_JOBS_MAX: "4" });
    for (let i = 0; i < 5; i++) await elastic.add("hold");
    await elastic.until(({ tiers }) => tiers.slow.started === 4);
    assert.equal((await elastic.stats()).slow_queue_depth, 1);
  });

  test("JOB_TYPE_LIMITS: a type at its limit holds up no other", async (t) => {
    const server = await spawned(t, { MAX_JOBS: "3", JOB_TYPE_LIMITS: "hold:1,echo:5" });
    await server.add("hold");
    const blocked = await server.add("hold");
    const free = await server.add("note");
    assert.equal((await server.result(free.body.uid)).status, "succeeded");
    assert.equal((await server.status(blocked.body.uid)).status, "queued");
  });

  test("JOB_TIMEOUT_SECONDS: for those that do not say it themselves", async (t) => {
    const server = await spawned(t, { JOB_TIMEOUT_SECONDS: "1", MAX_JOBS: "2" });
    const own = await server.add("hold", "w", { timeout_seconds: 60 });
    const late = await server.add("hold");
    const { status, error } = await server.result(late.body.uid);
    assert.deepEqual([status, error], ["timeout", "JobTimeout: took longer than 1 s"]);
    assert.equal((await server.status(own.body.uid)).status, "running");
  });

  test("RESULT_CACHE_MAX_SIZE: the older result is gone", async (t) => {
    const server = await spawned(t, { RESULT_CACHE_MAX_SIZE: "1" });
    const uids: string[] = [];
    for (let i = 0; i < 2; i++) {
      const { body } = await server.add("echo");
      uids.push(body.uid);
      assert.equal((await server.result(body.uid)).status, "succeeded");
    }
    const answers = await Promise.all(uids.map((uid) => server.call(`GET /job/result/${uid}`)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [410, 200],
    );
  });

  test("RESULT_CACHE_MAX_AGE_SECONDS: a result is gone after it", async (t) => {
    const server = await spawned(t, { RESULT_CACHE_MAX_AGE_SECONDS: "1" });
    const { body } = await server.add("echo");
    assert.equal((await server.result(body.uid)).status, "succeeded");
    let status = 200;
    while (status === 200) ({ status } = await server.call(`GET /job/result/${body.uid}`));
    assert.equal(status, 410);
  });

  test("DATA_DIR: the data is there, and one server's alone", async (t) => {
    const server = new Spawned(t, {});
    const DATA_DIR = join(server.folder, "elsewhere");
    await server.start({ DATA_DIR });
    assert.ok(existsSync(DATA_DIR));
    await assert.rejects(spawned(t, { DATA_DIR }), /exit 1: the log in .* is in use by process/);
  });

  test("LISTEN_ADDRESS: listens there, unless the port is in use", async (t) => {
    const server = await spawned(t, { LISTEN_ADDRESS: "127.0.0.2:0" });
    assert.match(server.address, /^http:\/\/127\.0\.0\.2:\d+$/);
    const other = createServer().listen(0, "127.0.0.1");
    t.after(() => other.close());
    await once(other, "listening");
    const LISTEN_ADDRESS = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    await assert.rejects(
      spawned(t, { LISTEN_ADDRESS }),
      /exit 1: port \d+ of 127\.0\.0\.1 is in use/,
    );
  });

  test("API_KEY: asked for, and needed where others can reach the server", async (t) => {
    const API_KEY = "a-key-that-is-long-enough-to-be-one";
    const server = await spawned(t, { API_KEY, LISTEN_ADDRESS: "0.0.0.0:0" });
    assert.equal((await server.add("echo")).status, 401);
    await assert.rejects(
      spawned(t, { LISTEN_ADDRESS: "0.0.0.0:0" }),
      /LISTEN_ADDRESS must be a loopback/,
    );
  });

  for (const [env, said] of [
    [{ MAX_JOBS: "none" }, /exit 2: MAX_JOBS must be .*got "none"/],
    [{ PRIORITY_TIERS: "a:1", FAST_QUEUE_SIZE: "1" }, /exit 2: PRIORITY_TIERS must be unset/],
    [{ JOB_TYPE_LIMITS: "nope:1" }, /JOB_TYPE_LIMITS names nope/],
  ] as const) {
    test(`${JSON.stringify(env)} does not start, and says why`, async (t) => {
      await assert.rejects(new Spawned(t, env).start(), said);
    });
  }
});

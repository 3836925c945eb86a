import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { readConfig } from "./config.ts";
import type { JobHandlers } from "./handlers/handler.ts";
import { JobServer } from "./job-server.ts";

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

interface Bench {
  readonly server: JobServer;
  /** Arguments of jobs in the order in which they ran. */
  readonly ran: unknown[];
  /** Lets the job that holds the only worker end. */
  release(): void;
  add(type: string, worker_id?: string, more?: object): ReturnType<JobServer["add"]>;
}

async function open(t: TestContext, env: Record<string, string> = {}): Promise<Bench> {
  const dir = mkdtempSync(join(tmpdir(), "sluice-jobserver-"));
  const ran: unknown[] = [];
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const handlers: JobHandlers = {
    hold: async () => {
      await held;
    },
    note: (args) => {
      ran.push(args);
      return args;
    },
    fail: () => {
      throw new Error("as it was asked to");
    },
    hang: (_args, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
    stuck: () => new Promise(() => {}),
  };
  const config = readConfig({ DATA_DIR: dir, MAX_JOBS: "1", ...env });
  const server = await JobServer.open(config, { functions: handlers }, QUIET);
  t.after(async () => {
    release();
    await server.close({ timeout: 100 });
    rmSync(dir, { recursive: true });
  });
  const add: Bench["add"] = (type, worker_id, more) => server.add({ type, worker_id, ...more });
  return { server, ran, add, release };
}

const end = (server: JobServer, uid: string): ReturnType<JobServer["result"]> =>
  server.result(uid, AbortSignal.timeout(10_000));

const FULL = { code: "QUEUE_FULL" };

test("a fast job submitted last runs first", async (t) => {
  const { server, ran, add, release } = await open(t, { PRIORITY_WORKER_IDS: "vip" });
  await add("hold");
  const slow = await add("note", "other", { arguments: "slow" });
  const fast = await add("note", "vip", { arguments: "fast" });
  assert.equal(slow.queue, "slow");
  assert.equal(fast.queue, "fast");
  release();
  await end(server, slow.uid);
  assert.deepEqual(ran, ["fast", "slow"]);
});

test("a full fast tier spills, and what finds no room at all is not stored", async (t) => {
  const { server, add } = await open(t, {
    FAST_QUEUE_SIZE: "4",
    SLOW_QUEUE_SIZE: "3",
    PRIORITY_SUBMITTER_SHARE: "1",
    PRIORITY_WORKER_IDS: "a,b",
  });
  await add("hold");
  for (let i = 0; i < 4; i++) assert.equal((await add("note", "a")).queue, "fast");
  for (let i = 0; i < 3; i++) assert.equal((await add("note", "b")).queue, "slow");
  await assert.rejects(add("note", "b"), FULL);
  await assert.rejects(add("note", "c"), FULL);
  const report = await server.stats.report();
  assert.equal(report.fast_queue_depth, 4);
  assert.equal(report.slow_queue_depth, 3);
  assert.equal(report.tiers.fast?.spilled, 3);
  assert.equal(report.tiers.fast?.rejected, 1);
  assert.equal(report.tiers.slow?.rejected, 1);
});

test("a greedy submitter is refused alone, and delays another by a turn at most", async (t) => {
  const { server, ran, add, release } = await open(t, { SLOW_QUEUE_SIZE: "10" });
  await add("hold");
  for (let i = 0; i < 5; i++) await add("note", "greedy", { arguments: "greedy" });
  await assert.rejects(add("note", "greedy"), FULL);
  const { uid } = await add("note", "modest", { arguments: "modest" });
  release();
  await end(server, uid);
  assert.ok(ran.indexOf("modest") <= 1, String(ran));
});

test("a share for the lower tiers bounds how long they wait", async (t) => {
  const { server, ran, add, release } = await open(t, {
    PRIORITY_WORKER_IDS: "vip",
    PRIORITY_SLOW_SHARE: "0.25",
  });
  await add("hold");
  for (let i = 0; i < 40; i++) await add("note", "vip", { arguments: "fast" });
  for (let i = 0; i < 10; i++) await add("note", "other", { arguments: "slow" });
  const { uid } = await add("note", "vip", { arguments: "fast" });
  release();
  await end(server, uid);
  // On every prefix: a quarter of the dispatches, within a turn.
  ran.forEach((_, index) => {
    const slow = ran.slice(0, index + 1).filter((tier) => tier === "slow").length;
    if (slow < 10) assert.ok(Math.abs(slow - (index + 1) / 4) <= 2, `${slow} of ${index + 1}`);
  });
});

test("aging brings an old job up", async (t) => {
  const { server, add } = await open(t, { PRIORITY_MAX_WAIT_SECONDS: "1" });
  await add("hold");
  const { uid, queue } = await add("note", "other");
  assert.equal(queue, "slow");
  const signal = AbortSignal.timeout(8_000);
  while ((await server.stats.report()).fast_queue_depth === 0) signal.throwIfAborted();
  assert.equal((await server.status(uid)).status, "queued");
});

test("legacy mode has a single tier for all submitters", async (t) => {
  const { server, add } = await open(t, {
    ENABLE_PRIORITY_QUEUE: "false",
    PRIORITY_WORKER_IDS: "vip",
  });
  assert.equal((await add("note", "vip")).queue, "slow");
  const { enabled, fast_queue_depth } = await server.stats.report();
  assert.deepEqual({ enabled, fast_queue_depth }, { enabled: false, fast_queue_depth: 0 });
});

test("a job that fails, or ends in any other way, says so, and none is tried again", async (t) => {
  const { server, add } = await open(t, { JOB_TIMEOUT_SECONDS: "1" });
  const cases = [
    ["note", {}, "succeeded", undefined],
    ["fail", {}, "failed", /as it was asked to/],
    ["hang", { timeout_seconds: 0.05 }, "timeout", /longer than 0.05 s/],
    ["stuck", { timeout_seconds: 0.05 }, "timeout", /longer than 0.05 s/],
  ] as const;
  for (const [type, more, status, error] of cases) {
    const { uid } = await add(type, "w", { ...more, arguments: { a: 1 } });
    const result = await end(server, uid);
    assert.equal(result.status, status, type);
    if (error === undefined) assert.deepEqual(result.data, { a: 1 });
    else assert.match(result.error ?? "", error);
    const told = await server.status(uid);
    assert.equal(told.status, status);
    assert.equal(told.attempts, 1, type);
    assert.ok(told.started_at !== null && told.finished_at !== null);
  }
  const { slow_processed, tiers } = await server.stats.report();
  assert.equal(slow_processed, 4);
  assert.equal(tiers.slow?.failed, 3);
});

test("a running job can be cancelled, a waiting one too, and an ended one not", async (t) => {
  const { server, add } = await open(t);
  const running = await add("hang");
  const waiting = await add("note");
  assert.equal((await server.status(waiting.uid)).position, 1);
  assert.equal(await server.cancel(waiting.uid), true);
  assert.equal((await server.status(waiting.uid)).status, "cancelled");
  assert.equal(await server.cancel(running.uid), true);
  assert.equal((await end(server, running.uid)).status, "cancelled");
  assert.equal(await server.cancel(running.uid), false);
  assert.equal((await server.stats.report()).tiers.slow?.oldest_age_ms, null);
});

test("types have limits of their own, and one at its limit holds up no other", async (t) => {
  const { server, add } = await open(t, { MAX_JOBS: "2", JOB_TYPE_LIMITS: "hang:1" });
  await add("hang");
  const blocked = await add("hang");
  const free = await add("note");
  assert.equal((await end(server, free.uid)).status, "succeeded");
  assert.equal((await server.status(blocked.uid)).status, "queued");
});

test("the same idempotency key is the same job, for its submitter only", async (t) => {
  const { add } = await open(t);
  const first = await add("note", "a", { idempotency_key: "k" });
  assert.equal((await add("note", "a", { idempotency_key: "k" })).uid, first.uid);
  assert.notEqual((await add("note", "b", { idempotency_key: "k" })).uid, first.uid);
});

test("what an idempotency key belongs to may be as long as both may be", async (t) => {
  const { add } = await open(t);
  const more = { idempotency_key: "\u0000".repeat(512) };
  const first = await add("note", "w".repeat(1024), more);
  assert.equal((await add("note", "w".repeat(1024), more)).uid, first.uid);
});

test("a job whose result is no longer kept is answered with its id all the same", async (t) => {
  const { server, add } = await open(t, { RESULT_CACHE_MAX_SIZE: "0" });
  const first = await add("note", "a", { idempotency_key: "k" });
  await server.result(first.uid, AbortSignal.timeout(10_000)).catch(() => undefined);
  const again = await add("note", "a", { idempotency_key: "k" });
  assert.deepEqual(again, { uid: first.uid, queue: "slow", position: 0 });
});

test("position counts a submitter's own jobs, and a job that began does not wait", async (t) => {
  const { server, add, release } = await open(t);
  assert.equal((await add("hold", "a")).position, 1);
  assert.equal((await server.stats.report()).tiers.slow?.oldest_age_ms, null);
  const positions = await Promise.all(["a", "b", "a"].map((id) => add("note", id)));
  assert.deepEqual(
    positions.map(({ position }) => position),
    [1, 1, 2],
  );
  const { uid } = positions[2]!;
  assert.equal((await server.status(uid)).position, 2);
  assert.equal(await server.cancel(positions[0]!.uid), true);
  assert.equal((await add("note", "a")).position, 2);
  release();
  const last = await add("note", "b");
  await end(server, last.uid);
  await end(server, uid);
  const { tiers, slow_queue_depth } = await server.stats.report();
  assert.deepEqual([slow_queue_depth, tiers.slow?.oldest_age_ms], [0, null]);
});

test("a tier may have any name, and is reported under it", async (t) => {
  const { server, add } = await open(t, { PRIORITY_TIERS: "__proto__:5,slow:5" });
  await add("hold");
  const report = await server.stats.report();
  assert.deepEqual(Object.keys(report.tiers), ["__proto__", "slow"]);
});

test("tiers can be taken away and given back, and no job is lost over it", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-jobserver-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const ran: unknown[] = [];
  const idle: JobHandlers = { note: (args, { signal }) => once(signal).then(() => args) };
  const busy: JobHandlers = { note: (args) => ran.push(args) };
  const run = async (
    env: Record<string, string>,
    handlers: JobHandlers,
    use: (server: JobServer) => Promise<void>,
  ): Promise<void> => {
    const config = readConfig({ DATA_DIR: dir, MAX_JOBS: "1", ...env });
    const server = await JobServer.open(config, { functions: handlers }, QUIET);
    try {
      await use(server);
    } finally {
      await server.close({ timeout: 0 });
    }
  };
  const names = { PRIORITY_WORKER_IDS: "vip" };
  const three = { ...names, PRIORITY_TIERS: "vip:9,fast:9,slow:9" };
  let last = "";
  await run(three, idle, async (server) => {
    await server.add({ type: "note", arguments: "holds the worker" });
    await server.add({ type: "note", arguments: "slow" });
    await server.add({ type: "note", arguments: "fast", worker_id: "vip" });
  });
  await run(names, idle, async (server) => {
    const { fast_queue_depth, slow_queue_depth } = await server.stats.report();
    assert.equal(fast_queue_depth + slow_queue_depth, 2);
    const added = await server.add({ type: "note", arguments: "fast too", worker_id: "vip" });
    assert.equal(added.queue, "fast");
    // The one that is left from before may have been taken by the worker already, or not yet.
    assert.ok(added.position === 1 || added.position === 2, `position ${added.position}`);
  });
  await run({ ENABLE_PRIORITY_QUEUE: "false" }, idle, async (server) => {
    const added = await server.add({ type: "note", arguments: "legacy", worker_id: "vip" });
    assert.equal(added.queue, "slow");
    assert.ok((await server.stats.report()).slow_queue_depth >= 3);
  });
  await run(three, busy, async (server) => {
    last = (await server.add({ type: "note", arguments: "last" })).uid;
    assert.equal((await end(server, last)).status, "succeeded");
  });
  const lower = ["holds the worker", "slow", "legacy", "last"];
  assert.deepEqual(new Set(ran.slice(0, 2)), new Set(["fast", "fast too"]));
  assert.deepEqual(new Set(ran.slice(2)), new Set(lower));
  assert.equal(ran.length, 6);
});

test("queued jobs are there after a restart", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-jobserver-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const config = readConfig({ DATA_DIR: dir, MAX_JOBS: "1" });
  const handlers: JobHandlers = { sleep: (_, { signal }) => once(signal), note: (args) => args };
  const before = await JobServer.open(config, { functions: handlers }, QUIET);
  await before.add({ type: "sleep" });
  const { uid } = await before.add({ type: "note", arguments: 7 });
  await before.close({ timeout: 0 });
  const quick: JobHandlers = { ...handlers, sleep: () => null };
  await using after = await JobServer.open(config, { functions: quick }, QUIET);
  assert.deepEqual(await end(after, uid), { status: "succeeded", data: 7, error: null });
});

function once(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
}

test("capacity moves to the tier that is full, and the report says so", async (t) => {
  const { server, add } = await open(t, {
    FAST_QUEUE_SIZE: "4",
    SLOW_QUEUE_SIZE: "20",
    PRIORITY_SUBMITTER_SHARE: "1",
    PRIORITY_WORKER_IDS: "vip",
    QUEUE_SIZING: "auto",
  });
  await add("hold");
  for (let i = 0; i < 10; i++) await add("note", "vip");
  await server.resize();
  const { tiers } = await server.stats.report();
  assert.ok(tiers.fast!.capacity > 4 && tiers.fast!.capacity <= 8);
  assert.equal(tiers.fast!.capacity + tiers.slow!.capacity, 24);
  assert.equal((await add("note", "vip")).queue, "fast");
});

for (const [what, body, field] of [
  ["an unknown type", { type: "nope" }, "type"],
  ["a type of the prototype", { type: "constructor" }, "type"],
  ["no type", {}, "type"],
  ["no object", [], "body"],
  ["an unknown field", { type: "note", wrker_id: "a" }, "wrker_id"],
  ["a worker_id that is no string", { type: "note", worker_id: 7 }, "worker_id"],
  ["a worker_id that is too long", { type: "note", worker_id: "é".repeat(513) }, "worker_id"],
  ["a timeout of nothing", { type: "note", timeout_seconds: 0 }, "timeout_seconds"],
  ["a timeout as text", { type: "note", timeout_seconds: "5" }, "timeout_seconds"],
  ["a long idempotency key", { type: "note", idempotency_key: "x".repeat(513) }, "idempotency_key"],
] as const) {
  test(`${what} is refused by its name`, async (t) => {
    const { server } = await open(t);
    await assert.rejects(server.add(body), (error: { code: string; details: object }) => {
      assert.equal(error.code, "INVALID");
      assert.equal((error.details as { field: string }).field, field);
      return true;
    });
  });
}

import assert from "node:assert/strict";
import { test } from "node:test";
import { RetryAfter } from "sluice";
import { openPool as open, QUIET, runIn as run } from "../testing/pool.ts";

for (const kind of ["thread", "process"] as const) {
  test(`${kind}: results, errors and progress are those of the handler`, async (t) => {
    const pool = await open(t, { kind });
    assert.ok(pool.types.includes("spin"));
    assert.deepEqual(await run(pool, "echo", { args: { a: [1, null] } }), { a: [1, null] });
    assert.equal(await run(pool, "nothing"), null);
    assert.equal(await run(pool, "url"), "http://a/b");
    await assert.rejects(run(pool, "fail"), { name: "TypeError", message: "as it was asked to" });
    await assert.rejects(run(pool, "big"), /BigInt/);
    await assert.rejects(run(pool, "later"), (error) => {
      return error instanceof RetryAfter && error.delay === 5;
    });
    const told: unknown[] = [];
    const progress = async (value: unknown): Promise<void> => void told.push(value);
    assert.equal(await run(pool, "progress", { progress }), "told");
    assert.deepEqual(told, [{ share: 0.5 }]);
  });

  test(`${kind}: one that computes is ended at its time limit`, async (t) => {
    const pool = await open(t, { kind, max: 1 });
    const timeout = { name: "JobTimeout", message: "took longer than 0.05 s" };
    const from = performance.now();
    await assert.rejects(run(pool, "spin", { args: { ms: 60_000 }, timeoutMs: 50 }), timeout);
    assert.ok(performance.now() - from < 30_000);
    await assert.rejects(run(pool, "ignore", { timeoutMs: 50 }), timeout);
    await assert.rejects(run(pool, "heed", { timeoutMs: 50 }), timeout);
    assert.equal(await run(pool, "echo", { args: 1 }), 1);
  });

  test(`${kind}: one that exits or throws from a timer fails its own job`, async (t) => {
    const pool = await open(t, { kind, max: 1 });
    await assert.rejects(run(pool, "exit"), /ended with exit code 7/);
    await assert.rejects(run(pool, "throwLate"), { name: "RangeError" });
    assert.equal(await run(pool, "echo", { args: 2 }), 2);
  });

  test(`${kind}: what a job does after its end does not harm the next job`, async (t) => {
    const said: string[] = [];
    const log = { ...QUIET, error: (text: string): void => void said.push(text) };
    const pool = await open(t, { kind, max: 1, log });
    for (const type of ["throwAfter", "rejectAfter", "exitAfter"]) {
      assert.equal(await run(pool, type, { args: 20 }), "ended");
      assert.equal(await run(pool, "wait", { args: 200 }), "waited", type);
    }
    assert.equal(said.length, 2);
    assert.match(said[0]!, /RangeError: thrown after its end/);
  });
}

test("a handler that takes all memory fails its own job", async (t) => {
  const pool = await open(t, { heapMib: 32 });
  const other = run(pool, "wait", { args: 100 });
  await assert.rejects(run(pool, "eat"), /more than 32 MiB of memory/);
  assert.equal(await other, "waited");
});

test("an aborted job leaves: before it has a thread, or by its signal", async (t) => {
  const pool = await open(t, { max: 1 });
  const leaving = new AbortController();
  const running = run(pool, "heed", { signal: leaving.signal });
  const waiting = run(pool, "echo", { signal: leaving.signal });
  leaving.abort(new Error("cancelled"));
  for (const end of await Promise.allSettled([running, waiting])) {
    assert.equal(end.status === "rejected" && end.reason.message, "cancelled");
  }
  assert.equal(await run(pool, "echo", { args: 3 }), 3);
});

test("jobs run side by side, one per thread, and wait when all threads are taken", async (t) => {
  const pool = await open(t, { max: 2 });
  const results = Array.from({ length: 20 }, (_, i) => run(pool, "echo", { args: i }));
  assert.deepEqual(
    await Promise.all(results),
    results.map((_, i) => i),
  );
});

test("threads share the server's process, processes do not; none has its keys", async (t) => {
  process.env.API_KEY = "a secret of the server";
  t.after(() => delete process.env.API_KEY);
  for (const kind of ["thread", "process"] as const) {
    const { pid, key } = (await run(await open(t, { kind }), "where")) as Record<string, unknown>;
    assert.equal(pid === process.pid, kind === "thread");
    assert.equal(key, null);
  }
});

test("a module that cannot be loaded is refused with its reason", async (t) => {
  await assert.rejects(open(t, { module: "/nowhere/handlers.ts" }), {
    name: "BadHandlers",
    message: /\/nowhere\/handlers\.ts cannot be loaded/,
  });
});

// Handlers that harm the place they run in, against a real server process.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { HARMFUL, Spawned } from "./testing/spawn.ts";

const harmed = (t: TestContext, env: Record<string, string> = {}): Promise<Spawned> =>
  new Spawned(t, { MAX_JOBS: "2", ...env }, HARMFUL).start();

for (const JOB_ISOLATION of ["thread", "process"]) {
  test(`${JOB_ISOLATION}: one that computes stops neither the server nor the time`, async (t) => {
    const server = await harmed(t, { JOB_ISOLATION });
    const spin = { arguments: { ms: 600_000 }, timeout_seconds: 1 };
    const spins = [await server.add("spin", "a", spin), await server.add("spin", "a", spin)];
    // Both handlers compute for ten minutes: each of these answers means that the server does not.
    assert.equal((await server.call("GET /healthz")).status, 200);
    const next = await server.add("echo", "b", { arguments: 7 });
    for (const { body } of spins) {
      const { status, error } = await server.result(body.uid);
      assert.deepEqual([status, error], ["timeout", "JobTimeout: took longer than 1 s"]);
    }
    assert.equal((await server.result(next.body.uid)).data, 7);
    assert.equal((await server.stats()).tiers.slow.failed, 2);
  });

  test(`${JOB_ISOLATION}: one that exits, or throws from a timer, fails alone`, async (t) => {
    const server = await harmed(t, { JOB_ISOLATION });
    const other = await server.add("wait", "a", { arguments: 300 });
    const exit = await server.add("exit", "b");
    const late = await server.add("throwLate", "b");
    const ended = await Promise.all([exit, late].map(({ body }) => server.result(body.uid)));
    assert.match(ended[0].error, /ended with exit code 7/);
    assert.equal(ended[1].error, "RangeError: thrown from a timer");
    for (const { status } of ended) assert.equal(status, "failed");
    assert.equal((await server.result(other.body.uid)).data, "waited");
    const { attempts } = await server.status(exit.body.uid);
    assert.equal(attempts, 1);
  });
}

test("a cancelled handler is ended, and its place is free", async (t) => {
  const server = await harmed(t, { MAX_JOBS: "1" });
  const { body } = await server.add("ignore", "a");
  await server.until(({ tiers }) => tiers.slow.started === 1);
  assert.equal((await server.call(`DELETE /job/${body.uid}`)).body.cancelled, true);
  const next = await server.add("echo", "a", { arguments: 1 });
  assert.equal((await server.result(next.body.uid)).data, 1);
});

test("jobs that ran when the server was killed run again at once", async (t) => {
  const server = await harmed(t);
  const jobs = [await server.add("wait", "a", { arguments: 200 })];
  jobs.push(await server.add("wait", "a", { arguments: 200 }));
  await server.until(({ tiers }) => tiers.slow.started === 2);
  await server.kill();
  await server.start();
  const from = performance.now();
  for (const { body } of jobs) assert.equal((await server.result(body.uid)).data, "waited");
  // Their leases would have lasted for 30 s.
  assert.ok(performance.now() - from < 15_000);
  assert.equal((await server.status(jobs[0]!.body.uid)).attempts, 2);
});

test("a process that computes ends with its server, also when that is killed", async (t) => {
  const server = await harmed(t, { JOB_ISOLATION: "process", MAX_JOBS: "1" });
  const where = await server.add("where", "a");
  const { pid } = (await server.result(where.body.uid)).data;
  await server.add("spin", "a", { arguments: { ms: 600_000 } });
  await server.until(({ tiers }) => tiers.slow.started === 2);
  await server.kill();
  while (isAlive(pid)) await setTimeout(20);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/**
 * An action on many jobs that crashes cut off, at any moment and several times, touches each job
 * once: also those that workers fail again while it is under way, and none that came later.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { MemoryLog, openLog } from "@sluice/log";
import { FakeClock } from "@sluice/protocol";
import fc from "fast-check";
import { type LocalBroker, openBroker } from "../broker.ts";
import { BULK_STEP_JOBS_BESIDE } from "../limits.ts";

const LETTERS = 600;
const payload = new TextEncoder().encode("x");

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise(setImmediate);
}

/** Everything that is taken fails for good. */
async function failAll(broker: LocalBroker, error: string): Promise<void> {
  for (;;) {
    const jobs = await broker.lease("q", { max: 200 });
    if (jobs.length === 0) return;
    await broker.nack(jobs.map(({ lease }) => ({ lease, error, unrecoverable: true })));
  }
}

async function redriven(broker: LocalBroker, ids: readonly string[]): Promise<number[]> {
  const all = await Promise.all(ids.map((id) => broker.history(id)));
  return all.map((entries) => entries.filter(({ event }) => event === "redriven").length);
}

async function world(crashes: readonly number[], failsAgain: boolean): Promise<void> {
  const clock = new FakeClock();
  let log = new MemoryLog();
  let broker = await openBroker({ log, clock });
  await broker.setQueue("q", {});
  const added = await broker.add("q", new Array(LETTERS).fill({ payload }));
  const ids = added.map(({ ok }) => ok!.id);
  await failAll(broker, "first");
  const { id, matched } = await broker.startBulk("retry", { queues: ["q.dlq"] });
  assert.equal(matched, LETTERS);
  for (const after of crashes) {
    await turns(after);
    if (failsAgain) await failAll(broker, "second");
    await log.close();
    log = new MemoryLog({ after: log });
    broker = await openBroker({ log, clock });
  }
  const late = await broker.add("q", [{ payload }]);
  if (failsAgain) await failAll(broker, "third");
  for (let i = 0; (await broker.bulk(id)).state === "running"; i++) {
    assert.ok(i < 1000, "it ends");
    await turns(1);
  }
  const { done, refused, state } = await broker.bulk(id);
  assert.deepEqual({ done, refused, state }, { done: LETTERS, refused: 0, state: "done" });
  const counts = await redriven(broker, ids);
  assert.deepEqual(new Set(counts), new Set([1]), "each job was retried once");
  assert.deepEqual(await redriven(broker, [late[0]!.ok!.id]), [0], "a later one was not");
  await broker.close();
}

test("an action that crashes cut off touches each job once", async () => {
  const crashes = fc.array(fc.nat(12), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(crashes, fc.boolean(), (when, failsAgain) => world(when, failsAgain)),
    { numRuns: 12, examples: [[[0, 3, 3], true]] },
  );
});

test("an action that is stopped leaves the rest alone, and stays stopped", async () => {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const broker = await openBroker({ log, clock });
  await broker.setQueue("q", {});
  await broker.add("q", new Array(LETTERS).fill({ payload, delayMs: 1000 }));
  const { id } = await broker.startBulk("cancel", { queues: ["q"] });
  const stopped = await broker.stopBulk(id);
  assert.equal(stopped.state, "stopped");
  assert.ok(stopped.done < LETTERS);
  const { count } = await broker.countJobs({ states: ["delayed"] });
  assert.equal(count, LETTERS - stopped.done);
  await log.close();
  const again = await openBroker({ log: new MemoryLog({ after: log }), clock });
  await turns(5);
  assert.equal((await again.bulk(id)).state, "stopped");
  assert.equal((await again.countJobs({ states: ["delayed"] })).count, count);
  await again.close();
});

test("an action takes small steps while others wait for the log", async () => {
  const dir = await mkdtemp(join(tmpdir(), "sluice-"));
  const broker = await openBroker({ log: await openLog({ dir }) });
  await broker.setQueue("q", {});
  await broker.setQueue("other", {});
  await broker.add("q", new Array(LETTERS).fill({ payload, delayMs: 3_600_000 }));
  const { id } = await broker.startBulk("cancel", { queues: ["q"] });
  let before = (await broker.bulk(id)).done;
  assert.ok(before <= BULK_STEP_JOBS_BESIDE, `${before} in the first step`);
  let isRunning = true;
  for (let i = 0; isRunning; i++) {
    assert.ok(i < LETTERS, "it ends");
    await broker.add("other", [{ payload }]);
    const { done, state } = await broker.bulk(id);
    assert.ok(done - before <= 2 * BULK_STEP_JOBS_BESIDE, `${done - before} in a step`);
    before = done;
    isRunning = state === "running";
  }
  assert.equal(before, LETTERS);
  await broker.close();
  await rm(dir, { recursive: true });
});

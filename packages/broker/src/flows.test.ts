import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLog } from "@sluice/log";
import type { Broker } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import { openBroker } from "./broker.ts";

const payload = Buffer.from("1");
const KIB = 1024;

/** Two jobs and one that waits for both, the first two finished with these results. */
async function finishedPair(broker: Broker, results: readonly Uint8Array[]): Promise<string[]> {
  const child = { queue: "q", payload };
  const after = [{ job: 0 }, { job: 1 }];
  const { jobs } = await broker.addFlow("q", [child, child, { ...child, after }]);
  const taken = await broker.lease("q", { max: 2, worker: "w" });
  await broker.ack(taken.map(({ lease }, i) => ({ lease, result: results[i]! })));
  return jobs.map(({ id }) => id);
}

test("results that others wait for page out and are read again after a restart", async () => {
  const log = new MemoryLog({ segmentBytes: 8 * KIB });
  const clock = turningClock(5);
  const small = { clock, segmentBytes: 64 * KIB, payloadMemoryBytes: 16 * KIB };
  const broker = await openBroker({ log, ...small });
  await broker.setQueue("q", { lease: "1d", results: { jobs: 0 } });
  await broker.setQueue("other", { results: { jobs: 0 } });
  const results = [Buffer.alloc(2 * KIB, "a"), Buffer.from("short")];
  const [first, second, parent] = (await finishedPair(broker, results)) as [string, string, string];
  assert.deepEqual((await broker.ended(first)).result, results[0]);
  const large = Buffer.alloc(2 * KIB, 1);
  for (let round = 0; round < 100; round++) {
    await broker.add("other", [{ payload: large }, { payload: large }]);
    const taken = await broker.lease("other", { max: 2, worker: "w" });
    await broker.ack(taken.map(({ lease }) => ({ lease })));
  }
  assert.ok(log.spans()[0]!.end > 64 * KIB, "the log was trimmed");
  await broker.close();
  const again = await openBroker({ log: new MemoryLog({ after: log }), ...small });
  const { items } = await again.dependencies(parent);
  assert.deepEqual(
    items.map(({ id, result }) => [id, Buffer.from(result!)]),
    [
      [first, results[0]],
      [second, results[1]],
    ],
  );
  assert.deepEqual(Buffer.from((await again.job(first)).result!), results[0]);
  assert.deepEqual(await again.steps(first), { items: [], signals: [] });
  // Its last dependent has ended: the result is gone, and the memory of the log with it.
  const [last] = await again.lease("q", { max: 1, worker: "w" });
  await again.ack([{ lease: last!.lease }]);
  await again.setQueue("q", {});
  await assert.rejects(again.job(first), { code: "ALREADY_FINISHED" });
  assert.equal((await again.stats()).liveBytes, 0);
  await again.close();
});

test("a page of dependencies has as many results as fit into it", async () => {
  const broker = await openBroker({ log: new MemoryLog(), clock: turningClock(5) });
  await broker.setQueue("q", {});
  const results = [Buffer.alloc(KIB * KIB, "a"), Buffer.alloc(KIB, "b")];
  const child = { queue: "q", payload };
  const after = [{ job: 0 }, { job: 1 }, { job: 2 }];
  const jobs = [child, child, child, { ...child, after }];
  const added = await broker.addFlow("q", jobs);
  const taken = await broker.lease("q", { max: 3, worker: "w" });
  const wanted = [results[0]!, results[1]!, results[1]!];
  await broker.ack(taken.map(({ lease }, i) => ({ lease, result: wanted[i]! })));
  const first = await broker.dependencies(added.jobs[3]!.id);
  assert.equal(first.items.length, 2);
  const second = await broker.dependencies(added.jobs[3]!.id, { cursor: first.cursor! });
  const sizes = [...first.items, ...second.items].map(({ result }) => result!.length);
  assert.deepEqual([sizes, second.cursor], [[KIB * KIB, KIB, KIB], undefined]);
  await broker.close();
});

test("a handler that reads results by page lets other work run between two pages", async () => {
  const broker = await openBroker({ log: new MemoryLog(), clock: turningClock(5) });
  await broker.setQueue("q", {});
  const child = { queue: "q", payload };
  const after = [{ job: 0 }, { job: 1 }];
  const { jobs } = await broker.addFlow("q", [child, child, { ...child, after }]);
  const { id } = jobs[2]!;
  const first = await broker.dependencies(id, { limit: 1 });
  let ran = false;
  setImmediate(() => {
    ran = true;
  });
  const second = await broker.dependencies(id, { limit: 1, cursor: first.cursor! });
  assert.ok(ran);
  assert.deepEqual(
    [...first.items, ...second.items].map((one) => one.id),
    [jobs[0]!.id, jobs[1]!.id],
  );
  await broker.close();
});

test("a flow that is none is refused by its name", async () => {
  const broker = await openBroker({ log: new MemoryLog(), clock: turningClock(5) });
  for (const flow of ["q/zzz", "q/", "zzz"]) {
    const message = `there is no flow "${flow}"`;
    await assert.rejects(broker.sealFlow(flow), { code: "JOB_NOT_FOUND", message });
  }
  await broker.close();
});

test("why of a job that waits for one that went with its queue says so", async () => {
  const broker = await openBroker({ log: new MemoryLog(), clock: turningClock(5) });
  for (const queue of ["q", "gone"]) await broker.setQueue(queue, {});
  const after = [{ job: 0, onDependencyFailure: "wait" as const }];
  const { jobs } = await broker.addFlow("q", [
    { queue: "gone", payload },
    { queue: "q", payload, after },
  ]);
  await broker.deleteQueue("gone");
  const { text } = await broker.why(jobs[1]!.id);
  const gone = `It waits for job ${jobs[0]!.id}, which went with its queue.`;
  assert.equal(text, `${gone} End the wait with "sluice job cancel ID".`);
  await broker.close();
});

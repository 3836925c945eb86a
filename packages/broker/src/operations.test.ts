import assert from "node:assert/strict";
import { test } from "node:test";
import { ADD_STEPS_MAX } from "@sluice/engine";
import { MemoryLog } from "@sluice/log";
import { turningClock, turns } from "@sluice/protocol/testing";
import { openBroker } from "./broker.ts";
import { add, job, open, take } from "./testing/opened.ts";

const SEGMENT_BYTES = 4096;
const TEN_MINUTES_MS = 600_000;

test("an answer is known after its place in the log was forgotten", async () => {
  const clock = turningClock(5);
  const log = new MemoryLog({ segmentBytes: SEGMENT_BYTES / 4 });
  const options = { clock, segmentBytes: SEGMENT_BYTES };
  const first = await openBroker({ log, ...options });
  await first.setQueue("q", { results: { jobs: 0 } });
  const jobs = [job("a"), job("b")];
  const answer = await first.add("q", jobs, { operationId: "once" });
  const [begin] = [...log.spans()];
  for (let i = 0; i < 200; i++) {
    await add(first, job("x".repeat(500), { priority: 0 }));
    const [taken] = await take(first);
    await first.ack([{ lease: taken!.lease }]);
    // The cleaner works between turns.
    await turns(5);
  }
  const [now] = [...log.spans()];
  assert.ok(now!.first > begin!.end, "the log was trimmed");
  await first.close();
  const after = new MemoryLog({ segmentBytes: SEGMENT_BYTES / 4, after: log });
  const broker = await openBroker({ log: after, ...options });
  assert.deepEqual(await broker.add("q", jobs, { operationId: "once" }), answer);
  assert.equal((await broker.queue("q")).stats.waiting, 2);
  await broker.close();
});

test("a batch that is written in several parts has one answer", async () => {
  const { broker } = await open();
  const jobs = Array.from({ length: 2 * ADD_STEPS_MAX + 1 }, (_, i) => job(String(i)));
  const answer = await broker.add("q", jobs, { operationId: "once" });
  assert.deepEqual(await broker.add("q", jobs, { operationId: "once" }), answer);
  assert.equal((await broker.queue("q")).stats.added, jobs.length);
});

test("a name is free again after ten minutes, and a refused call leaves none", async () => {
  const { broker, clock } = await open();
  const once = { operationId: "once" };
  await assert.rejects(broker.add("nowhere", [job("a")], once), { code: "QUEUE_NOT_FOUND" });
  const [first] = await broker.add("q", [job("a")], once);
  await clock.advance(TEN_MINUTES_MS - 1);
  assert.deepEqual(await broker.add("q", [job("a")], once), [first]);
  await clock.advance(1);
  const [second] = await broker.add("q", [job("a"), job("b")], once);
  assert.notDeepEqual(second, first);
  for (const operationId of ["", "x".repeat(256), 5 as unknown as string]) {
    await assert.rejects(broker.add("q", [job("a")], { operationId }), { code: "INVALID" });
  }
});

test("a large value that was refused is not written into the log", async () => {
  const { broker } = await open();
  const before = broker.sizes().logBytes;
  const jobs = [job("a", { fairnessKey: "x".repeat(100_000) })];
  const first = await broker.add("q", jobs, { operationId: "once" });
  const [again] = await broker.add("q", jobs, { operationId: "once" });
  assert.equal(again?.error?.message, first[0]?.error?.message);
  assert.ok(broker.sizes().logBytes - before < 1_000);
});

test("an add with an operation id and no room is answered without other calls", async () => {
  const { broker, clock } = await open();
  await broker.setQueue("q", { capacity: { jobs: 1 }, onFull: "wait", addTimeout: 400 });
  await add(broker, job("a"));
  let code: string | undefined;
  void broker.add("q", [job("b")], { operationId: "once" }).then(([outcome]) => {
    code = outcome?.error?.code;
  });
  await clock.advance(500);
  await turns(5);
  assert.equal(code, "QUEUE_FULL");
});

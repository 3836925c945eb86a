import assert from "node:assert/strict";
import { test } from "node:test";
import { turns } from "@sluice/protocol/testing";
import type { LocalBroker } from "./broker.ts";
import { APPEND_BYTES_MAX, OPERATION_BYTES_MAX } from "./limits.ts";
import { add, job, open, take, text } from "./testing/opened.ts";

const payloads = async (broker: LocalBroker, max: number): Promise<string[]> => {
  const found: string[] = [];
  for (let jobs = await take(broker, max); jobs.length > 0; jobs = await take(broker, max)) {
    found.push(...jobs.map(({ payload }) => text(payload).slice(0, 1)));
    await broker.ack(jobs);
    await turns(5);
  }
  return found;
};

test("an add that waits for room is not overtaken by a later one of its lane", async () => {
  const { broker } = await open({ capacity: { jobs: 1 }, onFull: "wait" });
  const first = await add(broker, job("a"));
  const adds = [broker.add("q", [job("b")])];
  await turns(5);
  // There is room again, and "b" has not heard of it yet.
  const cancelled = broker.cancel([first]);
  adds.push(broker.add("q", [job("c")]));
  await cancelled;
  assert.deepEqual(await payloads(broker, 1), ["b", "c"]);
  await Promise.all(adds);
});

test("a small job waits behind a large one of its lane, and not behind another lane", async () => {
  const { broker } = await open({ capacity: { bytes: 100 }, onFull: "wait" });
  await add(broker, job("a".repeat(60)));
  const large = broker.add("q", [job("b".repeat(60)), job("c")]);
  const small = broker.add("q", [job("d")]);
  await turns(5);
  const other = await broker.add("q", [job("e", { fairnessKey: "other" })]);
  assert.ok(other[0]!.ok !== undefined);
  const order = (await payloads(broker, 1)).filter((payload) => payload !== "e");
  assert.deepEqual(order, ["a", "b", "c", "d"]);
  await Promise.all([large, small]);
});

test("a job for later does not wait behind one that waits for room", async () => {
  const { broker } = await open({ capacity: { jobs: 1 }, onFull: "wait" });
  await add(broker, job("a"));
  const waiting = broker.add("q", [job("b")]);
  await turns(5);
  const [later] = await broker.add("q", [job("c", { delayMs: 1000 })]);
  assert.ok(later!.ok !== undefined);
  await payloads(broker, 1);
  await waiting;
});

test("an add that waits for the log is not overtaken by a later one to its queue", async () => {
  const { broker } = await open({}, { unsyncedBytesMax: 1 });
  await broker.setQueue("other", {});
  const jobs = Array.from({ length: 3000 }, (_, i) => job(i % 2 === 0 ? "a" : "b"));
  const batch = broker.add("q", jobs);
  const [later, other] = [broker.add("q", [job("c")]), broker.add("other", [job("d")])];
  await Promise.all([batch, later, other]);
  const order = await payloads(broker, 10);
  assert.equal(order.length, 3001);
  assert.equal(order.indexOf("c"), 3000);
});

test("a batch under one operation id has a limit in bytes, with and without it", async () => {
  const { broker } = await open({}, { payloadBytesMax: 16 * 1024 * 1024 });
  const part = new Uint8Array(OPERATION_BYTES_MAX / 4);
  const batch = (more: number): { payload: Uint8Array }[] => [
    ...Array.from({ length: 3 }, () => ({ payload: part })),
    { payload: part.subarray(0, part.length - 1) },
    { payload: new Uint8Array(more) },
  ];
  assert.equal(OPERATION_BYTES_MAX, APPEND_BYTES_MAX);
  for (const more of [0, 1]) {
    const outcomes = await broker.add("q", batch(more), { operationId: `o${more}` });
    assert.ok(outcomes.every(({ ok }) => ok !== undefined));
  }
  const tooLarge = broker.add("q", batch(2), { operationId: "o2" });
  await assert.rejects(tooLarge, { code: "PAYLOAD_TOO_LARGE" });
  assert.equal((await broker.add("q", batch(2))).length, 5);
});

/** Names, keys and numbers that the broker refuses before the engine gets them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type ConsumeOptions, SluiceError } from "@sluice/protocol";
import { add, job, open, take } from "./testing/opened.ts";

const LONG = "k".repeat(1025);

const isRefused = (field: string) => (error: unknown) =>
  error instanceof SluiceError && error.code === "INVALID" && error.details.field === field;

test("a store has a name, and its keys have a length", async () => {
  const { broker } = await open();
  const write = (store: string, key: unknown) =>
    broker.storeWrite(store, [{ key: key as string, value: 1 }]);
  await assert.rejects(write("no name", "k"), isRefused("store"));
  for (const key of [LONG, 5]) await assert.rejects(write("s", key), isRefused("key"));
  await broker.close();
});

test("a lane's key that is none is refused", async () => {
  const { broker } = await open();
  for (const key of [5, [], ["a", 5], ["a", "b", "c", "d", "e"], null, LONG]) {
    await assert.rejects(broker.setLaneWeight("q", key as string, 2), { code: "INVALID" });
  }
  await broker.close();
});

test("a worker's name and lease are refused where the worker joins", async () => {
  const { broker } = await open();
  const join = (options: Partial<ConsumeOptions>) =>
    broker.consume("q", { worker: "w", credits: 1, ...options }, () => {});
  await assert.rejects(join({ worker: LONG }), isRefused("worker"));
  await assert.rejects(join({ lease: -1 }), isRefused("lease"));
  await assert.rejects(broker.lease("q", { max: 1, lease: 0 }), isRefused("lease"));
  await broker.close();
});

test("refuses an invalid nack, and the job stays with its worker", async () => {
  const { broker } = await open();
  await add(broker, job("a"));
  const [held] = await take(broker);
  const nack = async (said: object) =>
    (await broker.nack([{ lease: held!.lease, ...said }]))[0]?.error?.details?.field;
  assert.equal(await nack({ delayMs: -1 }), "nack.delay");
  assert.equal(await nack({ blame: ["a b"] }), "nack.blame[0]");
  assert.equal(await nack({ cooldown: { gate: "a b", ms: 1 } }), "nack.cooldown.gate");
  assert.deepEqual(await broker.ack([{ lease: held!.lease }]), [{ ok: true }]);
  await broker.close();
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { drawTop } from "./draw.ts";
import { readTop } from "./view.ts";

const PAYLOAD = Buffer.from("1");

test("top fits 50 columns: the figures that matter most stay", async (t) => {
  const broker = await openBroker({ log: new MemoryLog() });
  t.after(() => broker.close());
  await broker.setGate("provider:ses", { rate: 5, concurrency: 2 });
  for (const [queue, count] of [
    ["mail", 3],
    ["payments", 1],
  ] as const) {
    await broker.setQueue(queue, {});
    const job = { payload: PAYLOAD, fairnessKey: "noisy-tenant", gates: ["provider:ses"] };
    await broker.add(
      queue,
      Array.from({ length: count }, () => job),
    );
  }
  const view = await readTop(broker, undefined);
  const narrow = drawTop(view, 50);
  for (const line of narrow.split("\n")) assert.ok([...line].length <= 50, line);
  assert.match(narrow, /queue +waiting .*out\/s/);
  assert.match(narrow, /no workers/);
  assert.match(narrow, /lanes of mail +waiting/);
  assert.doesNotMatch(narrow, /free workers/);
  assert.match(drawTop(view, 120), /free workers/);
});

test("queues are in the chosen order, and a chosen one shows its lanes alone", async (t) => {
  const broker = await openBroker({ log: new MemoryLog() });
  t.after(() => broker.close());
  for (const [queue, count] of [
    ["b", 1],
    ["a", 2],
    ["c", 3],
  ] as const) {
    await broker.setQueue(queue, {});
    await broker.add(
      queue,
      Array.from({ length: count }, () => ({ payload: PAYLOAD })),
    );
  }
  const names = async (sort: "waiting" | "name"): Promise<string[]> =>
    (await readTop(broker, undefined, { sort, queue: undefined })).queues.map(({ name }) => name);
  assert.deepEqual(await names("waiting"), ["c", "a", "b"]);
  assert.deepEqual(await names("name"), ["a", "b", "c"]);
  const view = await readTop(broker, undefined, { sort: "name", queue: "b" });
  const text = drawTop(view, 100);
  assert.match(text, /▶ b/);
  assert.deepEqual(text.match(/lanes of \w/g), ["lanes of b"]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { Turns } from "./waiting-adds.ts";

test("later calls act later, whichever is ready first", async () => {
  const turns = new Turns();
  const order: string[] = [];
  const slow = Promise.withResolvers<string>();
  const first = turns.take("q", slow.promise, (name) => order.push(name));
  const second = turns.take("q", Promise.resolve("second"), (name) => order.push(name));
  const other = turns.take("other", Promise.resolve("other"), (name) => order.push(name));
  await other;
  assert.ok(turns.queues.has("q"));
  slow.resolve("first");
  await Promise.all([first, second]);
  assert.deepEqual(order, ["other", "first", "second"]);
  assert.ok(!turns.queues.has("q"));
});

test("an error in one call does not affect the next call", async () => {
  const turns = new Turns();
  const boom = (): never => {
    throw new Error("boom");
  };
  const first = turns.take("q", Promise.resolve(), boom);
  let isDone = false;
  const second = turns.take("q", Promise.resolve(), () => {
    isDone = true;
  });
  await assert.rejects(first, /boom/);
  await second;
  assert.ok(isDone);
});

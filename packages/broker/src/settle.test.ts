import assert from "node:assert/strict";
import { test } from "node:test";
import { add, job, open, take } from "./testing/opened.ts";

test("calls of one commit are answered in their order", async () => {
  const { broker } = await open();
  const id = await add(broker, job("a"));
  await add(broker, job("b"));
  const [a, b] = await take(broker, 2);
  const answered: string[] = [];
  const calls = {
    ack: broker.ack([{ lease: a!.lease }]),
    cancel: broker.cancel([id]),
    retry: broker.retry([id]),
    nack: broker.nack([{ lease: b!.lease }]),
    extend: broker.extend([{ lease: a!.lease, leaseMs: 1000 }]),
  };
  const told = Object.entries(calls).map(([name, call]) => call.then(() => answered.push(name)));
  await Promise.all(told);
  assert.deepEqual(answered, Object.keys(calls));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { socketPair } from "./socket-pair.ts";

test("whoever listens too late hears that the other end has closed", async () => {
  const [near, far] = socketPair();
  far.close(1001, "the partition has left");
  await Promise.resolve();
  await Promise.resolve();
  const reason = new Promise((resolve) => {
    near.onclose = resolve;
  });
  assert.equal(await reason, "the partition has left");
});

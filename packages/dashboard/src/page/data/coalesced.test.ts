import assert from "node:assert/strict";
import { test } from "node:test";
import { coalesced } from "./coalesced.ts";

test("calls that come while one is under way become one more", async () => {
  const gates: PromiseWithResolvers<void>[] = [];
  const once = coalesced(() => {
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    return gate.promise;
  });
  once();
  once();
  once();
  assert.equal(gates.length, 1);
  gates[0]!.resolve();
  await new Promise(setImmediate);
  assert.equal(gates.length, 2);
  gates[1]!.resolve();
  await new Promise(setImmediate);
  assert.equal(gates.length, 2);
});

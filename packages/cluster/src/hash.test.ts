import assert from "node:assert/strict";
import { test } from "node:test";
import { hashOf, homeOfGate, homeOfQueue, homeOfStore } from "./hash.ts";

test("the hash is FNV-1a of 32 bits over UTF-8", () => {
  // The vectors that are published with the function.
  assert.equal(hashOf(""), 0x811c9dc5);
  assert.equal(hashOf("a"), 0xe40c292c);
  assert.equal(hashOf("foobar"), 0xbf9cf968);
  assert.notEqual(hashOf("ä"), hashOf("a"));
});

test("a queue and the dead letter queue it has by default have one home", () => {
  for (const queue of ["mail", "orders.v2", "a"]) {
    assert.equal(homeOfQueue(`${queue}.dlq`, 12), homeOfQueue(queue, 12));
  }
});

test("a queue, a gate and a store of one name need not be in one place", () => {
  const names = Array.from({ length: 50 }, (_, i) => `name${i}`);
  const homes = names.map((name) => [
    homeOfQueue(name, 12),
    homeOfGate(name, 12),
    homeOfStore(name, 12),
  ]);
  assert.ok(homes.some(([queue, gate, store]) => queue !== gate && gate !== store));
  assert.ok(homes.flat().every((home) => home >= 0 && home < 12));
});

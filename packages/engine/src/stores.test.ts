import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact } from "./facts/facts.ts";
import { SCAN_MAX } from "./limits.ts";
import { TestEngine } from "./testing/test-engine.ts";

test("a value stays in the store until it is overwritten or deleted", () => {
  const { stores } = new TestEngine();
  assert.equal(stores.get("s", "k"), undefined);
  stores.put("s", "k", 1, 0);
  stores.put("s", "k", 2, 0);
  stores.put("t", "k", 3, 0);
  assert.equal(stores.get("s", "k"), 2);
  assert.equal(stores.get("t", "k"), 3);
  assert.equal(stores.delete("s", "k", 0), true);
  assert.equal(stores.delete("s", "k", 0), false, "it is gone");
  assert.equal(stores.delete("t", "x", 0), false, "it never was");
  assert.equal(stores.get("s", "k"), undefined);
  assert.equal(stores.get("t", "k"), 3);
});

test("a scan answers in order of keys: those of the prefix, after the last one seen", () => {
  const { stores } = new TestEngine();
  for (const key of ["b2", "a", "b1", "b3", "c"]) stores.put("s", key, key.toUpperCase(), 0);
  assert.deepEqual(stores.scan("s", { prefix: "b", limit: 2 }), [
    ["b1", "B1"],
    ["b2", "B2"],
  ]);
  assert.deepEqual(stores.scan("s", { prefix: "b", after: "b2", limit: 2 }), [["b3", "B3"]]);
  assert.deepEqual(stores.scan("s", { after: "b3" }), [["c", "C"]]);
  assert.deepEqual(stores.scan("s", { after: "c" }), []);
  assert.deepEqual(stores.scan("none"), []);
});

test("a scan after a key outside of its prefix begins, or ends, where the prefix does", () => {
  const { stores } = new TestEngine();
  for (const key of ["a", "b1", "b2", "c"]) stores.put("s", key, key, 0);
  const keys = (after: string): string[] =>
    stores.scan("s", { prefix: "b", after }).map(([key]) => key);
  assert.deepEqual(keys("a"), ["b1", "b2"]);
  assert.deepEqual(keys("b"), ["b1", "b2"]);
  assert.deepEqual(keys("b15"), ["b2"]);
  assert.deepEqual(keys("c"), []);
});

test("a page of a scan has a limit, and many pages answer everything once", () => {
  const engine = new TestEngine();
  const count = 25_000;
  for (let i = 0; i < count; i++) engine.stores.put("s", `${(i * 7919) % count}`, i, 0);
  for (const limit of [0, SCAN_MAX + 1]) {
    assert.throws(() => engine.stores.scan("s", { limit }), { code: "INVALID" });
  }
  assert.equal(engine.stores.scan("s").length, 100);
  const seen: string[] = [];
  for (let after: string | undefined = ""; after !== undefined; after = seen.at(-1)) {
    const page = engine.stores.scan("s", { after, limit: SCAN_MAX });
    if (page.length === 0) break;
    for (const [key] of page) seen.push(key);
  }
  assert.deepEqual(seen, Array.from({ length: count }, (_, i) => `${i}`).sort());
});

test("all entries of all stores can be listed", () => {
  const { stores } = new TestEngine();
  stores.put("s", "a", 1, 0);
  stores.put("t", "b", null, 0);
  assert.deepEqual(
    [...stores.entries()],
    [
      { store: "s", key: "a", value: 1 },
      { store: "t", key: "b", value: null },
    ],
  );
});

test("the engine tells each change of a store once, and a delete of nothing not at all", () => {
  const facts: Fact[] = [];
  const engine = new TestEngine({ facts });
  engine.stores.put("s", "k", { a: 1 }, 5);
  assert.equal(engine.stores.delete("s", "none", 6), false);
  assert.deepEqual(engine.stores.get("s", "k"), { a: 1 });
  assert.deepEqual(engine.stores.scan("s"), [["k", { a: 1 }]]);
  assert.equal(engine.stores.delete("s", "k", 7), true);
  assert.equal(engine.stores.get("s", "k"), undefined);
  assert.deepEqual(facts, [
    { at: 5, fact: "stored", store: "s", key: "k", value: { a: 1 } },
    { at: 7, fact: "stored", store: "s", key: "k", value: undefined },
  ]);
});

test("a value must be given", () => {
  const engine = new TestEngine();
  assert.throws(() => engine.stores.put("s", "k", undefined, 0), {
    code: "INVALID",
    details: { field: "value", value: undefined },
  });
  assert.deepEqual(engine.stores.scan("s"), []);
});

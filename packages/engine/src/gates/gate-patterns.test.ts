import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { each } from "../testing/test-engine.ts";
import { GatePatterns } from "./gate-patterns.ts";

test("the own key comes first, then the longest pattern, then none", () => {
  const patterns = new GatePatterns();
  patterns.set("indexer:*", { rate: 1 });
  patterns.set("indexer:slow:*", { rate: 2 });
  patterns.set("indexer:slow:7", { rate: 3 });
  assert.equal(patterns.match("indexer:slow:7")?.config.rate, 3);
  assert.deepEqual(patterns.match("indexer:slow:8"), {
    pattern: "indexer:slow:*",
    config: { rate: 2 },
  });
  assert.equal(patterns.match("indexer:slow")?.pattern, "indexer:*");
  assert.equal(patterns.match("indexer:")?.pattern, "indexer:*");
  assert.equal(patterns.match("indexer"), undefined);
  patterns.set("*", { rate: 4 });
  assert.equal(patterns.match("indexer")?.pattern, "*");
  assert.equal(patterns.size, 4);
});

test("what is deleted no longer matches, and what is set again is replaced", () => {
  const patterns = new GatePatterns();
  patterns.set("a*", { rate: 1 });
  patterns.set("b*", { rate: 2 });
  patterns.set("a*", { rate: 3 });
  assert.equal(patterns.match("ax")?.config.rate, 3);
  assert.equal(patterns.get("a*")?.rate, 3);
  assert.equal(patterns.get("ax"), undefined);
  assert.equal(patterns.delete("a*"), true);
  assert.equal(patterns.delete("a*"), false);
  assert.equal(patterns.match("ax"), undefined);
  assert.equal(patterns.match("bx")?.config.rate, 2);
  patterns.set("b", { rate: 5 });
  assert.equal(patterns.delete("b"), true);
  assert.equal(patterns.match("b")?.pattern, "b*");
  assert.deepEqual(each([...patterns.values()], "pattern"), ["b*"]);
});

test("it matches as a search through all patterns does", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 6 });
  const pattern = fc.oneof(
    word,
    word.map((prefix) => `${prefix}*`),
  );
  const change = fc.record({ pattern, remove: fc.boolean() });
  fc.assert(
    fc.property(fc.array(change, { size: "max", maxLength: 30 }), word, (changes, key) => {
      const patterns = new GatePatterns();
      const set = new Set<string>();
      for (const { pattern, remove } of changes) {
        if (remove) {
          assert.equal(patterns.delete(pattern), set.delete(pattern));
        } else {
          patterns.set(pattern, {});
          set.add(pattern);
        }
      }
      const best = [...set]
        .filter((one) => one.endsWith("*") && key.startsWith(one.slice(0, -1)))
        .sort((a, b) => b.length - a.length)[0];
      assert.equal(patterns.match(key)?.pattern, set.has(key) ? key : best);
    }),
    { numRuns: 1000 },
  );
});

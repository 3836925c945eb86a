import assert from "node:assert/strict";
import { test } from "node:test";
import { CACHE_ENTRIES_MAX, CACHE_ITEMS_MAX } from "../limits.ts";
import { ResultCache } from "./cache.ts";
import type { Found } from "./found.ts";

const some = (count: number) => Array.from({ length: count }, () => ({}) as Found);

test("an answer is kept for its time and not a millisecond longer", () => {
  const cache = new ResultCache(1_000);
  cache.put("a", some(2), 0);
  assert.equal(cache.get("a", 999)?.length, 2);
  assert.equal(cache.get("a", 1_000), undefined);
  assert.equal(cache.size, 0);
  cache.put("empty", [], 0);
  assert.deepEqual(cache.get("empty", 1), []);
});

test("without a time nothing is kept", () => {
  const cache = new ResultCache(0);
  cache.put("a", some(1), 0);
  assert.equal(cache.get("a", 0), undefined);
});

test("at each bound everything is kept, above it the oldest go", () => {
  const entries = new ResultCache(1_000);
  for (let i = 0; i < CACHE_ENTRIES_MAX; i++) entries.put(`${i}`, [], 0);
  assert.ok(entries.get("0", 1));
  entries.put("more", [], 0);
  assert.equal(entries.get("0", 1), undefined);
  assert.deepEqual([entries.size, entries.get("1", 1)], [CACHE_ENTRIES_MAX, []]);

  const items = new ResultCache(1_000);
  items.put("a", some(1), 0);
  items.put("b", some(CACHE_ITEMS_MAX - 1), 0);
  assert.equal(items.size, 2);
  items.put("c", some(1), 0);
  assert.deepEqual([items.get("a", 1), items.size], [undefined, 2]);
  items.put("huge", some(CACHE_ITEMS_MAX + 1), 0);
  assert.equal(items.size, 2);
  // The same again replaces itself, and is counted once.
  items.put("c", some(1), 0);
  assert.equal(items.size, 2);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { SortedMap } from "./sorted-map.ts";

test("an empty map has no key, deletes none and yields none", () => {
  const map = new SortedMap<number>();
  assert.equal(map.get("a"), undefined);
  assert.equal(map.delete("a"), false);
  assert.deepEqual([...map.from("")], []);
  assert.equal(map.size, 0);
});

test("a key that is not there is not found beside its neighbours", () => {
  const map = new SortedMap<number>();
  map.set("b", 2);
  map.set("d", 4);
  assert.deepEqual(
    [map.get("a"), map.get("b"), map.get("c"), map.get("e")],
    [undefined, 2, undefined, undefined],
  );
  assert.equal(map.delete("c"), false);
  assert.deepEqual([...map.from("c")], [["d", 4]]);
});

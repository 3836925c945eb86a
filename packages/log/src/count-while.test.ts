import assert from "node:assert/strict";
import { test } from "node:test";
import { countWhile } from "./count-while.ts";

test("counts what a walk from the first would count", () => {
  for (let length = 0; length < 20; length++) {
    const items = Array.from({ length }, (_, i) => i);
    for (let bound = 0; bound <= length; bound++) {
      assert.equal(
        countWhile(items, (item) => item < bound),
        bound,
      );
    }
  }
});

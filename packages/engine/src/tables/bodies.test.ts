import assert from "node:assert/strict";
import { test } from "node:test";
import { Bodies } from "./table.ts";

test("each value is found by its row until it is replaced", () => {
  const bodies = new Bodies();
  assert.ok(bodies.isEmpty);
  assert.equal(bodies.get(7), undefined);
  bodies.set(7, undefined);
  assert.ok(bodies.isEmpty, "nothing was stored");
  const object = { payload: 1 };
  const values = [
    1,
    2 ** 52 + 1,
    0.5,
    0,
    -1,
    Number.NaN,
    -0,
    "text",
    null,
    false,
    object,
    Infinity,
  ];
  for (const [row, value] of values.entries()) bodies.set(row * 5000, value);
  assert.ok(!bodies.isEmpty);
  for (const [row, value] of values.entries()) {
    assert.ok(Object.is(bodies.get(row * 5000), value), `${String(value)} in row ${row * 5000}`);
  }
  assert.equal(bodies.get(1), undefined);
  assert.equal(bodies.get(10_000_000), undefined);
});

test("the place of a value that is replaced is used again", () => {
  const bodies = new Bodies();
  const first = { a: 1 };
  const second = { b: 2 };
  bodies.set(1, first);
  bodies.set(2, second);
  bodies.set(1, 17);
  assert.equal(bodies.get(1), 17);
  const third = { c: 3 };
  bodies.set(3, third);
  assert.equal(bodies.get(2), second);
  assert.equal(bodies.get(3), third);
  bodies.set(2, undefined);
  assert.equal(bodies.get(2), undefined);
  bodies.set(4, first);
  bodies.set(3, second);
  assert.deepEqual([bodies.get(1), bodies.get(3), bodies.get(4)], [17, second, first]);
});

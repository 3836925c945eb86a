import assert from "node:assert/strict";
import { test } from "node:test";
import { digestOf } from "./digest.ts";

const bytes = (length: number, seed = 1): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (i * 31 + seed) & 255);

test("equal values have equal digests, in whatever order their fields are", () => {
  const one = digestOf("add", [{ payload: bytes(100), weight: 2, gates: ["a", "b"] }]);
  const other = digestOf("add", [{ gates: ["a", "b"], weight: 2, payload: bytes(100) }]);
  assert.equal(one, other);
  assert.equal(digestOf({ a: 1, b: undefined }), digestOf({ a: 1 }));
});

test("each bit of a payload counts", () => {
  const seen = new Set([digestOf(bytes(67))]);
  for (let bit = 0; bit < 67 * 8; bit++) {
    const changed = bytes(67);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    seen.add(digestOf(changed));
  }
  assert.equal(seen.size, 67 * 8 + 1);
});

test("a payload counts by its bytes, wherever in memory it is", () => {
  const bytes = Uint8Array.from({ length: 50 }, (_, index) => index);
  const shared = new Uint8Array(200);
  shared.set(bytes, 7);
  shared.set(bytes, 101);
  const first = shared.subarray(7, 57);
  const second = shared.subarray(101, 151);
  const expected = digestOf([bytes, bytes]);
  assert.equal(digestOf([first, second]), expected);
  assert.equal(digestOf([first, bytes]), expected);
  assert.equal(digestOf([bytes, second]), expected);
  shared[150] = 0;
  assert.notEqual(digestOf([first, second]), expected);
});

test("values that are alike have different digests", () => {
  const values: unknown[] = [
    ...["", "a", "b", "ab", "ba", "a\0", "1", "null", "undefined", "true"],
    ...[0, 1, -1, 0.5, 1e300, 2 ** 32, Number.POSITIVE_INFINITY, true, false, null],
    ...[[], [1], [1, 2], [2, 1], [[1], 2], [[1, 2]], {}, { a: 1 }, { a: 2 }, { b: 1 }],
    ...[{ a: { b: 1 } }, { a: 1, b: 2 }, { a: 2, b: 1 }],
    ...[bytes(0), bytes(1), bytes(8), bytes(9), bytes(9, 2)],
  ];
  const different = new Set(
    values.filter((value) => value !== null).map((value) => digestOf(value)),
  );
  // The words for true, false and null are those of their texts.
  assert.ok(different.size >= values.length - 3, `${different.size} of ${values.length}`);
});

test("where a trace began does not make another call", () => {
  const job = (traceparent: string): object => ({ headers: { tenant: "a", traceparent } });
  assert.equal(digestOf(job("00-1")), digestOf(job("00-2")));
  assert.notEqual(digestOf({ headers: { tenant: "b" } }), digestOf(job("00-1")));
});

test("cuts off a value that contains itself", () => {
  const ring: Record<string, unknown> = {};
  ring.ring = ring;
  assert.equal(typeof digestOf(ring), "string");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { NAME_BYTES_MAX } from "./limits.ts";
import { byteLength, fitsBytes, isName } from "./names.ts";

test("a name has 1 to 255 characters of the allowed set", () => {
  assert.equal(isName("a"), true);
  assert.equal(isName("Az09._:-"), true);
  assert.equal(isName("a".repeat(NAME_BYTES_MAX - 1)), true);
  assert.equal(isName("a".repeat(NAME_BYTES_MAX)), true);
  assert.equal(isName("a".repeat(NAME_BYTES_MAX + 1)), false);
  for (const bad of ["", "a b", "a/b", "a*", "é", "a\n", "日本", undefined, null, 7, ["a"]]) {
    assert.equal(isName(bad), false, String(bad));
  }
});

test("a name matches the documented pattern", () => {
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme-ascii" }));
  fc.assert(
    fc.property(text, (one) => assert.equal(isName(one), /^[A-Za-z0-9._:-]+$/.test(one))),
    { numRuns: 2000 },
  );
});

test("bytes are those of UTF-8", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      assert.equal(byteLength(text), new TextEncoder().encode(text).length);
    }),
    { numRuns: 2000 },
  );
  assert.equal(byteLength("\ud800a\udc00"), 7);
});

test("a string fits by its bytes, not by its characters", () => {
  assert.equal(fitsBytes("", 0), true);
  assert.equal(fitsBytes("a".repeat(9), 10), true);
  assert.equal(fitsBytes("a".repeat(10), 10), true);
  assert.equal(fitsBytes("a".repeat(11), 10), false);
  assert.equal(fitsBytes("é".repeat(5), 10), true);
  assert.equal(fitsBytes("é".repeat(6), 10), false);
  assert.equal(fitsBytes("€€€", 10), true);
  assert.equal(fitsBytes("€€€é", 10), false);
  assert.equal(fitsBytes("😀😀", 8), true);
  assert.equal(fitsBytes("😀😀", 7), false);
  assert.equal(fitsBytes(7, 10), false);
});

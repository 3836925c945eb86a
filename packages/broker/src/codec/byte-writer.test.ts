import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteReader } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";

function written(write: (writer: ByteWriter) => void): Uint8Array {
  const writer = new ByteWriter((need) => new Uint8Array(need + 64));
  write(writer);
  return writer.bytes.slice(0, writer.at);
}

const NUMBERS = [0, 1, 127, 128, 16_383, 16_384, 2 ** 21 - 1, 2 ** 21, 2 ** 28 - 1, 2 ** 28];
const LARGE = [2 ** 31 - 1, 2 ** 31, 2 ** 32, 1_763_200_000_000, 8.64e15, Number.MAX_SAFE_INTEGER];
const ODD = [-1, -0, 0.5, -0.5, 2 ** 53, 1e300, 5e-324, Infinity, -Infinity, Number.NaN];

test("a whole number takes a byte for each seven bits", () => {
  for (const value of [...NUMBERS, ...LARGE]) {
    const bytes = written((writer) => writer.varint(value));
    assert.equal(bytes.length, Math.max(1, Math.ceil(value.toString(2).length / 7)));
    assert.equal(new ByteReader(bytes).varint(), value);
  }
});

test("refuses a varint that is not a whole number from 0 to 2^53 - 1", () => {
  for (const value of ODD.filter((odd) => !Object.is(odd, -0))) {
    assert.throws(() => written((writer) => writer.varint(value)), { code: "ERR_ASSERTION" });
  }
});

test("reads every number exactly as written", () => {
  for (const value of [...NUMBERS, ...LARGE, ...ODD]) {
    const reader = new ByteReader(written((writer) => writer.number(value)));
    assert.ok(Object.is(reader.number(), value), String(value));
    assert.ok(reader.isAtEnd);
  }
});

test("reads every time exactly as written, near another time or not", () => {
  const times = [...NUMBERS, ...LARGE, ...ODD, 0.1, 0.3, 1000.5, 1000, 1_763_200_000_000.25];
  for (const base of times) {
    for (const value of times) {
      const reader = new ByteReader(written((writer) => writer.time(value, base)));
      assert.ok(Object.is(reader.time(base), value), `${value} near ${base}`);
      assert.ok(reader.isAtEnd);
    }
  }
});

test("a time 30 s after another takes three bytes, also when both have fractions", () => {
  assert.equal(written((writer) => writer.time(31_000, 1000)).length, 3);
  assert.equal(written((writer) => writer.time(1000, 31_000)).length, 3);
  assert.equal(written((writer) => writer.time(31_000.5, 1000.5)).length, 3);
});

test("reads every text as written, even half a surrogate pair", () => {
  const parts = ["", "a", "worker-1", "é", "✓", "𝄞", "\ud800", "\udc00x", "\0", "\ufeff", "�"];
  for (const part of parts) {
    for (const times of [1, 2, 39, 40, 41, 42, 63, 64, 65, 127, 128, 1024]) {
      const text = part.repeat(times);
      const bytes = written((writer) => writer.text(text));
      assert.equal(new ByteReader(bytes).text(), text);
      assert.equal(new ByteReader(bytes).name(), text);
      assert.equal(new ByteReader(bytes).name(), text, "from the cache");
      if (text.isWellFormed()) {
        const size = Buffer.byteLength(text);
        assert.equal(bytes.length, size + (size < 128 ? 1 : 2));
      }
    }
  }
});

test("fails an assertion for a value that JSON cannot carry", () => {
  assert.throws(() => written((writer) => writer.json(undefined)), { code: "ERR_ASSERTION" });
});

test("a fact that does not fit moves to the next chunk; those before it stay", () => {
  const left: Uint8Array[] = [];
  const writer: ByteWriter = new ByteWriter((need) => {
    left.push(writer.bytes.slice(0, writer.start));
    return new Uint8Array(Math.max(need, 8));
  });
  writer.begin();
  writer.raw(Uint8Array.of(1, 2, 3, 4, 5));
  writer.begin();
  writer.raw(Uint8Array.of(6, 7));
  writer.raw(Uint8Array.of(8, 9));
  assert.deepEqual(left, [new Uint8Array(0), Uint8Array.of(1, 2, 3, 4, 5)]);
  assert.equal(writer.start, 0);
  assert.deepEqual(writer.bytes.slice(writer.start, writer.at), Uint8Array.of(6, 7, 8, 9));
});

test("a chunk is asked for what the fact has so far and what comes next", () => {
  const needs: number[] = [];
  const writer = new ByteWriter((need) => {
    needs.push(need);
    return new Uint8Array(need);
  });
  writer.raw(new Uint8Array(10));
  writer.raw(new Uint8Array(5));
  writer.begin();
  writer.raw(new Uint8Array(3));
  assert.deepEqual(needs, [10, 15, 3]);
});

test("a chunk that is smaller than asked for is our mistake", () => {
  const writer = new ByteWriter((need) => new Uint8Array(need - 1));
  assert.throws(() => writer.u8(1), { code: "ERR_ASSERTION" });
});

test("a value whose fields are named like an object's own is written like any other", () => {
  const value = { toString: 1, valueOf: null };
  const bytes = written((writer) => writer.json(value));
  assert.deepEqual(new ByteReader(bytes).json(), value);
});

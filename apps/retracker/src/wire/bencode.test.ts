import assert from "node:assert/strict";
import { test } from "node:test";
import { type Bencoded, BencodeError, decode, encode } from "./bencode.ts";

const read = (text: string): Bencoded => decode(Buffer.from(text, "latin1"));

test("what is written is read again", () => {
  const value = new Map<string, Bencoded>([
    ["a", 1],
    ["b", [Buffer.from("x"), -5, 0]],
    ["c", new Map()],
    ["\xff\x00", 2n ** 64n - 1n],
  ]);
  assert.deepEqual(decode(encode(value as never)), value);
});

test("keys are written in the order of their bytes", () => {
  const value = new Map([
    ["b", 1],
    ["\xff", 2],
    ["a", 3],
    ["B", 4],
  ]);
  assert.equal(encode(value).toString("latin1"), "d1:Bi4e1:ai3e1:bi1e1:\xffi2ee");
});

test("integers are exact up to 64 bits", () => {
  assert.equal(read("i9007199254740991e"), 9007199254740991);
  assert.equal(read("i18446744073709551615e"), 2n ** 64n - 1n);
  assert.equal(read("i-9223372036854775808e"), -(2n ** 63n));
  assert.throws(() => read("i18446744073709551616e"), BencodeError);
});

const BAD = [
  "",
  "i-0e",
  "i007e",
  "ie",
  "i1",
  "i1.5e",
  "i 1e",
  "5:abc",
  "05:abcde",
  "-5:x",
  "99999999999:x",
  "4x",
  "l",
  "d1:a",
  "d1:ae",
  "di1ei2ee",
  "e",
  "i1ei2e",
  "d1:ai1e1:ai2ee",
  "x",
];

for (const text of BAD) {
  test(`${JSON.stringify(text)} is refused with its place`, () => {
    assert.throws(() => read(text), BencodeError);
  });
}

test("nesting is bounded and never overflows the stack", () => {
  assert.doesNotThrow(() => read("l".repeat(32) + "e".repeat(32)));
  assert.throws(() => read("l".repeat(33) + "e".repeat(33)), /nested deeper than 32/);
  assert.throws(() => read("l".repeat(100_000)), BencodeError);
});

test("size is bounded", () => {
  const fits = 1024 * 1024;
  const text = (bytes: number): string => `${bytes - 8}:${"x".repeat(bytes - 8)}`;
  assert.equal(text(fits).length, fits);
  assert.doesNotThrow(() => read(text(fits)));
  assert.throws(() => read(`${text(fits)}x`), /more than/);
});

test("no key reaches a prototype", () => {
  const value = read("d9:__proto__d1:xi1ee11:constructori2ee") as Map<string, Bencoded>;
  assert.equal(value.get("constructor"), 2);
  assert.ok(value.get("__proto__") instanceof Map);
  assert.equal(({} as { x?: number }).x, undefined);
});

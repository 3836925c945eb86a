import assert from "node:assert/strict";
import { test } from "node:test";
import { sipHash } from "./sip-hash.ts";

/** The hashes that the authors publish: the key is 00 01 02 .. 0f, the message 00 01 02 .. */
const KEY = Int32Array.of(0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c);
const PUBLISHED: ReadonlyMap<number, string> = new Map([
  [0, "726fdb47dd0e0e31"],
  [1, "74f839c593dc67fd"],
  [7, "ab0200f58b01d137"],
  [8, "93f5f5799a932462"],
  [15, "a129ca6149be45e5"],
  [16, "3f2acc7f57c29bdb"],
]);

for (const [length, expected] of PUBLISHED) {
  test(`a message of ${length} bytes has the hash that is published for it`, () => {
    const count = Math.floor(length / 8) + 1;
    const bytes = new Uint8Array(8 * count);
    for (let i = 0; i < length; i++) bytes[i] = i;
    bytes[8 * count - 1] = length;
    const hash = { low: 0, high: 0 };
    sipHash(KEY, new Int32Array(bytes.buffer), count, hash);
    const hex = [hash.high, hash.low].map((word) => (word >>> 0).toString(16).padStart(8, "0"));
    assert.equal(hex.join(""), expected);
  });
}

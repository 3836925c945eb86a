import assert from "node:assert/strict";
import { test } from "node:test";
import { JSON_DEPTH_MAX } from "../limits.ts";
import { isJson } from "./is-json.ts";

test("JSON is known as such, however long it is", async () => {
  const long = JSON.stringify("x".repeat(1_000_000));
  for (const text of [" 1 ", "null", '{"__proto__":1, "a":[1.50]}', '"é\\u2028"', "[]", long]) {
    assert.equal(await isJson(Buffer.from(text)), true, text.slice(0, 50));
  }
});

test("what is no JSON, or too deep to be read, is not", async () => {
  for (const text of ["", "{", "1 2", "\uFEFF1", "nul", '{"a":1}]']) {
    assert.equal(await isJson(Buffer.from(text)), false, text);
  }
  assert.equal(await isJson(Buffer.from([0x22, 0xff, 0x22])), false);
  const nested = (levels: number) => Buffer.from("[".repeat(levels) + "]".repeat(levels));
  assert.equal(await isJson(nested(JSON_DEPTH_MAX)), true);
  assert.equal(await isJson(nested(JSON_DEPTH_MAX + 1)), false);
});

test("agrees with JSON.parse on every byte at every place of a text", async () => {
  const isParsed = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const odd = ['"', "\\", "\\n", "\\u0041", "\u0001", "\u001f", " ", "!", "#", "]", "é", "\x7f"];
  for (let length = 0; length <= 13; length++) {
    for (let at = 0; at <= length; at++) {
      for (const one of odd) {
        const text = `"${"x".repeat(at)}${one}${"y".repeat(length - at)}"`;
        assert.equal(await isJson(Buffer.from(text)), isParsed(text), JSON.stringify(text));
      }
    }
  }
});

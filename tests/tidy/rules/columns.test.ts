import assert from "node:assert/strict";
import { test } from "node:test";
import { columns } from "./columns.ts";

const lines = (text: string): number[] =>
  columns([{ path: "a.ts", text }]).map((finding) => finding.line);

test("100 columns pass and 101 do not", () => {
  assert.deepEqual(lines(`// ${"a ".repeat(48)}b`), []);
  assert.deepEqual(lines(`f();\n// ${"a ".repeat(49)}`), [2]);
  assert.deepEqual(lines(`f(${"a, ".repeat(40)}a);`), [1]);
});

test("a character is one column, however it is stored", () => {
  assert.deepEqual(lines(`// ${"😀".repeat(97)}`), []);
});

test("a literal that cannot be broken may run over", () => {
  assert.deepEqual(lines(`const a = "${"x".repeat(120)}";`), []);
  assert.deepEqual(lines(`const a = \`\n${"x".repeat(120)}\n\`;`), []);
});

test("an address in a comment may run over", () => {
  assert.deepEqual(lines(`// See https://example.org/${"x".repeat(100)}`), []);
});

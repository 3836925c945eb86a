import assert from "node:assert/strict";
import { test } from "node:test";
import { size } from "./size.ts";

const messages = (text: string): string[] =>
  size([{ path: "a.ts", text }]).map((finding) => `${finding.line} ${finding.message}`);

const functionOf = (lines: number): string => `function f() {\n${"f();\n".repeat(lines - 2)}}\n`;

test("a file of 500 lines passes and one of 501 does not", () => {
  assert.deepEqual(messages("f();\n".repeat(500)), []);
  assert.deepEqual(messages("f();\n".repeat(501)), ["0 has 501 lines, at most 500"]);
});

test("a function of 70 lines passes and one of 71 does not", () => {
  assert.deepEqual(messages(functionOf(70)), []);
  assert.deepEqual(messages(`\n${functionOf(71)}`), ["2 a function of 71 lines, at most 70"]);
});

test("methods and arrow functions are measured too", () => {
  const body = "f();\n".repeat(70);
  assert.equal(messages(`const f = () => {\n${body}};`).length, 1);
  assert.equal(messages(`class A {\n#m() {\n${body}}\n}`).length, 1);
});

test("a group of tests is a heading and not a function", () => {
  assert.deepEqual(messages(`describe("a", () => {\n${"f();\n".repeat(80)}});`), []);
  assert.equal(messages(`test("a", () => {\n${"f();\n".repeat(80)}});`).length, 1);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { measure, onlyCode } from "./coverage.ts";

const range = (startOffset: number, endOffset: number, count: number) => ({
  startOffset,
  endOffset,
  count,
});

const CODE = "function f(a) {\n  if (a) g();\n  h();\n}\n";
const whole = range(0, CODE.length, 1);
const body = range(0, CODE.length - 1, 4);
const arm = { start: CODE.indexOf("g()"), end: CODE.indexOf("g()") + 4 };

const script = (...ranges: ReturnType<typeof range>[]) => ({ url: "", functions: [{ ranges }] });

test("a block that never ran is a missed branch with its line", () => {
  const coverage = measure("f.ts", CODE, [script(whole, body, range(arm.start, arm.end, 0))]);
  assert.deepEqual(coverage.branches, { covered: 2, total: 3 });
  assert.deepEqual(coverage.missed, ["f.ts:2"]);
});

test("a block missed by one process and run by another is covered", () => {
  // The second process ran the arm as often as the function, so V8 does not name it there.
  const first = script(whole, body, range(arm.start, arm.end, 0));
  const coverage = measure("f.ts", CODE, [first, script(whole, body)]);
  assert.deepEqual(coverage.branches, { covered: 3, total: 3 });
  assert.deepEqual(coverage.missed, []);
});

test("lines without code do not count", () => {
  assert.deepEqual(measure("f.ts", CODE, [script(whole)]).lines, { covered: 3, total: 3 });
  const never = measure("f.ts", CODE, [script(range(0, CODE.length, 0))]);
  assert.deepEqual(never.lines, { covered: 0, total: 3 });
});

test("a file nothing loaded is missed, unless it holds no code", () => {
  assert.deepEqual(measure("f.ts", CODE, []).branches, { covered: 0, total: 1 });
  assert.deepEqual(measure("f.ts", "\n  \n", []).branches, { covered: 0, total: 0 });
});

test("types and comments are no code, and everything else keeps its place", () => {
  const source = `import type { A } from "./a.ts";
export interface B { readonly a: A }
type C = B;
/* a
remark */ export const d = "// no remark"; // one
`;
  const code = onlyCode("a.ts", source);
  assert.equal(code.length, source.length);
  assert.equal(code.trim(), 'export const d = "// no remark";');
  assert.equal(code.indexOf("export"), source.indexOf("export const"));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { skippedTests } from "./skipped-tests.ts";

const count = (text: string): number => skippedTests([{ path: "a.test.ts", text }]).length;

test("a test left out without a reason is found in every form", () => {
  for (const text of [
    'test.skip("a", () => {});',
    'describe.skip("a", () => {});',
    'test.todo("a");',
    'test.only("a", () => {});',
    'it("a", { only: true }, () => {});',
    'test("a", { skip: true }, () => {});',
    'test("a", { skip: "" }, () => {});',
    'test("a", (t) => { t.skip(); });',
    'test("a", (t) => t.test("b", { skip: true }, () => {}));',
  ]) {
    assert.equal(count(text), 1, text);
  }
});

test("a reason is enough", () => {
  for (const text of [
    'test("a", { skip: "needs a disk" }, () => {});',
    'test("a", { skip: hasDisk ? false : "needs a disk" }, () => {});',
    'test("a", (t) => { t.skip("needs a disk"); });',
    "stream.skip(); list({ only: true });",
  ]) {
    assert.equal(count(text), 0, text);
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileNames } from "./file-names.ts";

const count = (path: string): number => fileNames([{ path, text: "" }]).length;

test("names that say nothing are found, as files and as folders", () => {
  assert.equal(count("packages/a/src/utils.ts"), 1);
  assert.equal(count("packages/a/src/helpers.test.ts"), 1);
  assert.equal(count("packages/a/src/common/gate.ts"), 1);
  assert.equal(count("packages/a/src/manager.ts"), 1);
  assert.equal(count("misc.ts"), 1);
});

test("names that say something pass", () => {
  assert.equal(count("packages/a/src/gate.ts"), 0);
  assert.equal(count("packages/a/src/commonly.ts"), 0);
});

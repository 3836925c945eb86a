import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { removeTree } from "./remove-tree.ts";

function tree(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "sluice-tree-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, "data/base"), { recursive: true });
  writeFileSync(join(dir, "data/base/1"), "one");
  return dir;
}

test("a tree is gone with all that is in it", (t) => {
  const dir = tree(t);
  removeTree(dir);
  assert.equal(existsSync(dir), false);
});

test("an attempt that ends early without a word, or fails, is made again", (t) => {
  const dir = tree(t);
  let attempts = 0;
  const attempt = (path: string): void => {
    attempts += 1;
    if (attempts === 1) return;
    if (attempts === 2) throw new Error("ENOTEMPTY");
    rmSync(path, { recursive: true });
  };
  removeTree(dir, attempt, 0);
  assert.equal(attempts, 3);
  assert.equal(existsSync(dir), false);
});

test("throws if a tree cannot be removed", (t) => {
  assert.throws(() => removeTree(tree(t), () => undefined, 0), /could not be removed/);
});

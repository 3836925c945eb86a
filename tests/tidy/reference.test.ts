import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { test } from "node:test";

const root = dirname(dirname(import.meta.dirname));

test("the reference pages are as the tables make them", () => {
  const args = [join(root, "scripts", "run.mjs"), join(root, "scripts", "docs.ts"), "--check"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  assert.equal(status, 0, `${stdout}${stderr}`);
});

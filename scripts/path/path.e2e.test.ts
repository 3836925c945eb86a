import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

test("the path of one job keeps its bounds", () => {
  const program = join(import.meta.dirname, "..", "path.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "--files"], {
    encoding: "utf8",
  });
  assert.equal(status, 0, `${stdout}${stderr}`);
});

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findDeadCode } from "./dead-code.ts";

test("a file nobody imports and an export nobody uses are found", (t) => {
  const root = mkdtempSync(join(tmpdir(), "sluice-knip-"));
  t.after(() => rmSync(root, { recursive: true }));
  writeFileSync(join(root, "package.json"), '{ "name": "made-up", "type": "module" }');
  writeFileSync(join(root, "index.ts"), 'import { used } from "./part.ts";\nused();\n');
  writeFileSync(
    join(root, "part.ts"),
    "export const used = (): number => 1;\nexport const lonely = 2;\n",
  );
  writeFileSync(join(root, "dead.ts"), "export const dead = 3;\n");
  const report = findDeadCode(root);
  assert.match(report, /dead\.ts/);
  assert.match(report, /lonely/);
  assert.doesNotMatch(report, /\bused\b/);
});

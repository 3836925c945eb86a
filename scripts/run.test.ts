import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

const launcher = join(import.meta.dirname, "run.mjs");

function launch(...args: string[]): { code: number | null; lines: string[] } {
  const { status, stderr } = spawnSync(process.execPath, [launcher, ...args], { encoding: "utf8" });
  return { code: status, lines: stderr.trim().split("\n") };
}

test("a program that is not there is named in one line", () => {
  const { code, lines } = launch("no/such/program.ts");
  assert.equal(code, 1);
  assert.deepEqual(lines, ["There is no no/such/program.ts in this repository."]);
});

test("an unknown suite is refused with the names of those there are", () => {
  const { code, lines } = launch("scripts/test.ts", "no-such-suite");
  assert.equal(code, 2);
  assert.match(lines[0] ?? "", /no suite "no-such-suite"; there are types, lint, tidy, unit/);
});

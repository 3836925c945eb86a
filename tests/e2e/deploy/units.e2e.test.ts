// The units of systemd, judged by systemd itself.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { needProgram } from "../debian.ts";
import { builtExecutable } from "../executable/build.ts";

const folder = join(dirname(dirname(dirname(import.meta.dirname))), "deploy", "systemd");
// From 0, no access at all, to 10; systemd calls anything below 5 OK.
const EXPOSURE_MAX = 1.5;

function analyzed(...args: string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync("systemd-analyze", args, { encoding: "utf8" });
  return { status, said: `${stdout}${stderr}`.trim() };
}

// A unit whose program is where this machine has it.
function placed(t: TestContext, unit: string, program: string): string {
  const dir = mkdtempSync(join(tmpdir(), "sluice-units-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const text = readFileSync(join(folder, unit), "utf8");
  const path = join(dir, unit);
  writeFileSync(path, text.replace("/usr/local/bin/sluice", program));
  return path;
}

for (const unit of globSync("*.service", { cwd: folder }).sort()) {
  test(`${unit} is valid, and exposed by ${EXPOSURE_MAX} at the most`, (t) => {
    needProgram("systemd-analyze", "systemd");
    const path = placed(t, unit, builtExecutable());
    assert.deepEqual(analyzed("verify", path), { status: 0, said: "" });
    const { said } = analyzed("security", "--offline=true", path);
    const [, level] = /Overall exposure level for \S+: ([\d.]+)/.exec(said) ?? [];
    t.diagnostic(`${basename(unit)}: ${level}`);
    assert.ok(Number(level) <= EXPOSURE_MAX, said);
  });
}

// The single executable, built once for all tests of a run.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

const root = dirname(dirname(dirname(import.meta.dirname)));

// Its path. One that is there already is from this very tree if CI says so.
export function builtExecutable(): string {
  const program = join(root, "dist", "sluice");
  if (process.env.SLUICE_EXECUTABLE !== undefined && existsSync(program)) return program;
  const args = [join(root, "scripts", "build.ts"), "--executable"];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`the executable could not be built:\n${stderr}`);
  return program;
}

// The single executable. `npm run test:e2e` has built it; a test that is run alone builds it.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

const root = dirname(dirname(dirname(import.meta.dirname)));

export function builtExecutable(): string {
  const program = join(root, "dist", "sluice");
  if (process.env.SLUICE_BUILT !== undefined && existsSync(program)) return program;
  const args = [join(root, "scripts", "build.ts"), "--executable"];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`the executable could not be built:\n${stderr}`);
  return program;
}

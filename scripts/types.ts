// Checks the types: of all that runs in Node, and of the page, which runs in a browser.

import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";

const PROJECTS = ["tsconfig.json", "packages/dashboard/tsconfig.page.json"];

const root = dirname(import.meta.dirname);
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
for (const project of PROJECTS) {
  const args = [tsc, "--project", project];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}

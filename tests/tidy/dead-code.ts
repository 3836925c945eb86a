// Files nobody imports, exports nobody uses, dependencies nobody needs: knip knows.

import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";

const repository = dirname(dirname(import.meta.dirname));
const KNIP = join(repository, "node_modules", "knip", "bin", "knip.js");

// What knip has found in the tree at `root`; empty when there is nothing.
export function findDeadCode(root: string): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [KNIP, "--no-progress", "--no-config-hints"],
    { cwd: root, encoding: "utf8" },
  );
  return status === 0 ? "" : `${stdout}${stderr}`.trim() || `knip ended with ${status}`;
}

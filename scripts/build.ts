// Emits `dist` (JavaScript and declarations) for every package that has a tsconfig.build.json.
// Development never needs this: Node runs the sources as they are.

import { spawnSync } from "node:child_process";
import { existsSync, globSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);
const projects = globSync("{packages,apps}/*/tsconfig.build.json", { cwd: root }).sort();

for (const project of projects) {
  const dist = join(root, dirname(project), "dist");
  if (existsSync(dist)) rmSync(dist, { recursive: true });
}

const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
const result = spawnSync(process.execPath, [tsc, "--build", ...projects], {
  cwd: root,
  stdio: "inherit",
});
// What the dashboard publishes is the page, built.
const page = join(root, "packages", "dashboard", "src", "main.ts");
if (result.status === 0) spawnSync(process.execPath, [page], { cwd: root, stdio: "inherit" });
if (result.status === 0) console.log(`built ${projects.map((path) => dirname(path)).join(", ")}`);
process.exitCode = result.status ?? 1;

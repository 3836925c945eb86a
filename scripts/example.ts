// Runs one of the examples in a directory of its own, which is gone afterwards.

import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

const folder = join(dirname(import.meta.dirname), "examples");
const names = globSync("*.ts", { cwd: folder, exclude: ["*.test.ts"] })
  .map((file) => basename(file, ".ts"))
  .sort();
const [name] = process.argv.slice(2);

if (name === undefined || !names.includes(name)) {
  console.log(`npm run example NAME, where NAME is one of: ${names.join(", ")}`);
  process.exitCode = name === undefined ? 0 : 1;
} else {
  const cwd = mkdtempSync(join(tmpdir(), "sluice-example-"));
  try {
    const file = join(folder, `${name}.ts`);
    process.exitCode = spawnSync(process.execPath, [file], { cwd, stdio: "inherit" }).status ?? 1;
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

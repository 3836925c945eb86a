// A package with a bug: a copy of its sources with one piece of text replaced. The package itself
// has no switch for bugs and never gets one.

import assert from "node:assert/strict";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export interface PlantedBug {
  readonly file: string;
  // The first `find` behind `within` becomes `put`.
  readonly within: string;
  readonly find: string;
  readonly put: string;
}

// Answers the module at `entry`; `uses` are the packages that it imports, `folders` says where
// those are that are not the real ones.
export async function plant<Module>(
  name: string,
  uses: readonly string[],
  bug: PlantedBug | undefined,
  entry = "index.ts",
  folders: Readonly<Record<string, string>> = {},
): Promise<Module> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-planted-"));
  try {
    cpSync(join(packageOf(name), "src"), folder, { recursive: true });
    // Outside of a package Node has to be told what kind of modules these are, and what they use.
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    mkdirSync(join(folder, "node_modules", "@sluice"), { recursive: true });
    for (const used of uses) {
      symlinkSync(folders[used] ?? packageOf(used), join(folder, "node_modules", used));
    }
    if (bug !== undefined) {
      const file = join(folder, bug.file);
      writeFileSync(file, replaceOnce(readFileSync(file, "utf8"), bug));
    }
    return await import(pathToFileURL(join(folder, entry)).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function packageOf(name: string): string {
  return dirname(dirname(fileURLToPath(import.meta.resolve(name))));
}

export function replaceOnce(text: string, { file, within, find, put }: PlantedBug): string {
  const from = text.indexOf(within);
  assert.ok(from >= 0, `${file} has no ${within}`);
  const at = text.indexOf(find, from);
  assert.ok(at >= 0, `${file} has no ${find} behind ${within}`);
  return text.slice(0, at) + put + text.slice(at + find.length);
}

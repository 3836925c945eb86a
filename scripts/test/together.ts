// Test files that share a process. To start one and to load what it tests takes 0.3 s of processor
// time, and 0.6 s while coverage is counted: more than the tests of most files need. Each folder
// has one such process; its entry loads one file after another, and marks the end of each by a test
// that has the file's name.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { TOGETHER } from "./engine-tests.ts";

export interface Shared {
  // The program that loads the files.
  readonly entry: string;
  readonly files: readonly string[];
}

export interface Division {
  readonly shared: readonly Shared[];
  readonly alone: readonly string[];
}

// Writes the entries. A folder with one file needs none.
export function divide(
  root: string,
  files: readonly string[],
  folders: readonly string[] = [],
): Division {
  const shared = folders
    .map((folder) => ({ folder, files: files.filter((file) => file.startsWith(`${folder}/`)) }))
    .filter((one) => one.files.length > 1)
    .map((one) => ({ entry: writeEntry(root, one.folder, one.files), files: one.files }));
  const taken = new Set(shared.flatMap((one) => one.files));
  return { shared, alone: files.filter((file) => !taken.has(file)) };
}

function writeEntry(root: string, folder: string, files: readonly string[]): string {
  const entry = join(TOGETHER, folder, "all.test.mjs");
  const path = join(root, entry);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `import { test } from "node:test";\n${files.map(loads).join("")}`);
  return entry;

  function loads(file: string): string {
    const url = pathToFileURL(join(root, file)).href;
    return `await import(${JSON.stringify(url)});\ntest(${JSON.stringify(file)}, () => {});\n`;
  }
}

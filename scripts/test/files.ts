// Finds the test files of the tree and says which suite each belongs to.

import { globSync } from "node:fs";
import { SPECIAL_ENDINGS, type Suite, TIDY_FOLDER } from "./suites.ts";

const SKIPPED_FOLDERS = new Set(["node_modules", "dist", ".git"]);

export function findTestFiles(root: string): string[] {
  return globSync("**/*.test.ts", {
    cwd: root,
    exclude: (entry) => SKIPPED_FOLDERS.has(entry),
  })
    .map((path) => path.replaceAll("\\", "/"))
    .sort();
}

export function belongsTo(suite: Suite, path: string): boolean {
  const { source } = suite;
  if (source.kind === "command") return false;
  if (source.folder !== undefined) return path.startsWith(source.folder);
  if (path.startsWith(TIDY_FOLDER)) return false;
  const special = SPECIAL_ENDINGS.find((ending) => path.endsWith(ending));
  return source.ending === (special ?? ".test.ts") && path.endsWith(source.ending);
}

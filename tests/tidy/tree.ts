// The files of a tree, as the rules see them. Rules never touch the disk, so that a test can hand
// them a made-up tree.

import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

export interface SourceFile {
  // Relative to the root, with forward slashes.
  readonly path: string;
  readonly text: string;
}

export type Tree = readonly SourceFile[];

export interface Finding {
  readonly path: string;
  // From 1; 0 where the finding is about the file as a whole.
  readonly line: number;
  readonly message: string;
}

export type Rule = (tree: Tree) => Finding[];

const SKIPPED_FOLDERS = new Set(["node_modules", "dist", ".git"]);
const SKIPPED_FILES = new Set(["package-lock.json"]);
const TEXT_ENDINGS = new Set([
  ".ts",
  ".tsx",
  ".mjs",
  ".js",
  ".json",
  ".md",
  ".yml",
  ".yaml",
  ".sh",
  ".css",
  ".html",
  ".lua",
]);

export function readTree(root: string): Tree {
  return readdirSync(root, { recursive: false, withFileTypes: true }).flatMap((entry) =>
    readEntry(root, entry.name, entry.isDirectory()),
  );
}

function readEntry(root: string, path: string, isFolder: boolean): SourceFile[] {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (isFolder) {
    if (SKIPPED_FOLDERS.has(name)) return [];
    return readdirSync(join(root, path), { withFileTypes: true }).flatMap((entry) =>
      readEntry(root, `${path}/${entry.name}`, entry.isDirectory()),
    );
  }
  if (SKIPPED_FILES.has(name)) return [];
  // What lies in `.ci` are scripts without an ending.
  if (!TEXT_ENDINGS.has(extname(name)) && !path.startsWith(".ci/")) return [];
  return [{ path, text: readFileSync(join(root, path), "utf8") }];
}

export function isTypeScript({ path }: SourceFile): boolean {
  return path.endsWith(".ts") || path.endsWith(".tsx");
}

export function isTest({ path }: SourceFile): boolean {
  return path.endsWith(".test.ts") || path.endsWith(".test.tsx");
}

// The package or app a file belongs to (`packages/engine`), or the top folder of other files.
export function unitOf(path: string): string {
  const [top = "", name = ""] = path.split("/");
  return top === "packages" || top === "apps" ? `${top}/${name}` : top;
}

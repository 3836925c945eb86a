/**
 * The built page, in memory and compressed: a few files that never change while a server runs.
 *
 * What is published carries them. In a checkout they are built at the first request, and again
 * when the sources are no longer those that they were built from; nothing built is committed.
 */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type PageFile, pageFile } from "./page-file.ts";

/** This file is in `src` of a checkout or in `dist` of what is published. */
const folder = dirname(import.meta.dirname);
const BUILT = join(folder, "dist", "page");
const SOURCES = join(folder, "src", "page");

/** By their paths, such as `index.html`. */
export async function loadPage(): Promise<ReadonlyMap<string, PageFile>> {
  if (existsSync(SOURCES)) {
    const { buildIfChanged } = await import("./build.ts");
    await buildIfChanged(SOURCES, BUILT);
  }
  return readPage(BUILT);
}

export async function readPage(built: string): Promise<Map<string, PageFile>> {
  const entries = await readdir(built, { recursive: true, withFileTypes: true });
  const files = new Map<string, PageFile>();
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const file = pageFile(path, await readFile(path));
    if (file !== undefined) files.set(path.slice(built.length + 1).replaceAll("\\", "/"), file);
  }
  return files;
}

/**
 * The built page, in memory and compressed: a few files that never change while a server runs.
 *
 * What is published carries them. In a checkout they are built at the first request, and again
 * when the sources are no longer those that they were built from; nothing built is committed.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { gzipSync } from "node:zlib";

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
  readonly gzip: Buffer;
  readonly etag: string;
  /** Its name has a hash of what is in it. */
  readonly isHashed: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

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
  for (const entry of entries) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const body = await readFile(path);
    const digest = createHash("sha256").update(body).digest("base64url").slice(0, 22);
    files.set(path.slice(built.length + 1).replaceAll("\\", "/"), {
      type,
      body,
      gzip: gzipSync(body, { level: 9 }),
      etag: `"${digest}"`,
      isHashed: entry.name !== "index.html",
    });
  }
  return files;
}

import { createHash } from "node:crypto";
import { basename, extname } from "node:path";
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

/** A file of the page, ready to be sent; undefined: it is none. */
export function pageFile(path: string, body: Buffer): PageFile | undefined {
  const type = TYPES[extname(path)];
  if (type === undefined) return undefined;
  const digest = createHash("sha256").update(body).digest("base64url").slice(0, 22);
  return {
    type,
    body,
    gzip: gzipSync(body, { level: 9 }),
    etag: `"${digest}"`,
    isHashed: basename(path) !== "index.html",
  };
}

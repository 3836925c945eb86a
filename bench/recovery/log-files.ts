// The files of a log, as the file system sees them: what is measured is not asked for its size.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

export interface LogFiles {
  readonly diskBytes: number;
  // All that was ever written: a segment is named by its first address, and addresses only rise.
  readonly writtenBytes: number;
}

export function logFilesOf(dir: string): LogFiles {
  let diskBytes = 0;
  let writtenBytes = 0;
  for (const name of readdirSync(dir)) {
    // A segment may be trimmed away between the two looks.
    const size = statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0;
    diskBytes += size;
    if (name.endsWith(".log"))
      writtenBytes = Math.max(writtenBytes, Number.parseInt(name, 10) + size);
  }
  return { diskBytes, writtenBytes };
}

export function megabytes(bytes: number): number {
  return Number((bytes / 1e6).toPrecision(4));
}

import { resolve } from "node:path";
import { checkInteger, invalid } from "@sluice/protocol";
import type { Disk } from "./disk.ts";
import {
  READ_CACHE_BYTES,
  READ_CACHE_BYTES_MAX,
  SEGMENT_BYTES,
  SEGMENT_BYTES_MAX,
  SEGMENT_BYTES_MIN,
} from "./limits.ts";
import type { TornTail } from "./log.ts";
import { type Processes, realProcesses } from "./processes.ts";
import { realDisk } from "./real-disk.ts";
import { warnOfTorn } from "./torn-tail.ts";
import type { Durability } from "./writer.ts";

export interface FileLogOptions {
  /** Made when it does not exist, for the owner alone. */
  readonly dir: string;
  /** Where a segment ends and the next begins; 8 MiB. A larger batch gets a segment of its own. */
  readonly segmentBytes?: number;
  /** `fsync` (default) survives a power loss, `os` the end of the process. */
  readonly durability?: Durability;
  /** Memory for `read`; 8 MiB. */
  readonly readCacheBytes?: number;
  /** Told of a tail that the opening has cut off. Default: a warning of the process. */
  readonly onTorn?: (torn: TornTail) => void;
  /** A simulated disk, and the processes that may hold a lock on it. */
  readonly disk?: Disk;
  readonly processes?: Processes;
}

export function parseOptions(options: FileLogOptions): Required<FileLogOptions> {
  const { dir, durability = "fsync", disk = realDisk, processes = realProcesses } = options;
  if (typeof dir !== "string" || dir === "" || dir.includes("\0")) {
    throw invalid("dir", "the path of a directory", dir);
  }
  if (durability !== "fsync" && durability !== "os") {
    throw invalid("durability", '"fsync" or "os"', durability);
  }
  const { segmentBytes = SEGMENT_BYTES, readCacheBytes = READ_CACHE_BYTES } = options;
  checkInteger("segmentBytes", segmentBytes, SEGMENT_BYTES_MIN, SEGMENT_BYTES_MAX);
  checkInteger("readCacheBytes", readCacheBytes, 0, READ_CACHE_BYTES_MAX);
  // A process may change its directory later.
  const { onTorn = warnOfTorn } = options;
  return { dir: resolve(dir), segmentBytes, durability, readCacheBytes, onTorn, disk, processes };
}

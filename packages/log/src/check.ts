import { resolve } from "node:path";
import type { Disk } from "./disk.ts";
import { failed } from "./errors.ts";
import { type InspectOptions, inspect, type LogReport } from "./inspect.ts";
import { Lock } from "./lock.ts";
import { type Processes, realProcesses } from "./processes.ts";
import { realDisk } from "./real-disk.ts";
import { checkNoRepair } from "./repair-note.ts";

export interface CheckOptions extends Pick<InspectOptions, "onProgress"> {
  readonly disk?: Disk;
  readonly processes?: Processes;
}

/** Reads a whole log that is not open, changes nothing, and reports every problem. */
export async function checkLog(dir: string, options: CheckOptions = {}): Promise<LogReport> {
  const { disk = realDisk, processes = realProcesses, onProgress } = options;
  const path = resolve(dir);
  return withLock(disk, path, processes, async () => {
    await checkNoRepair(disk, path);
    return inspect(disk, path, onProgress === undefined ? {} : { onProgress });
  });
}

export async function withLock<T>(
  disk: Disk,
  dir: string,
  processes: Processes,
  act: () => Promise<T>,
): Promise<T> {
  let lock: Lock | undefined;
  try {
    lock = await Lock.take(disk, dir, processes);
    return await act();
  } catch (error) {
    throw failed("looking through the log", dir, error);
  } finally {
    await lock?.release();
  }
}

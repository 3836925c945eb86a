/** The log that the options of `Sluice.open` lead to. */
import { FileLog, type Log, MemoryLog } from "@sluice/log";
import type { OpenOptions } from "@sluice/protocol";

export async function openLog({ dir, durability = "fsync" }: OpenOptions): Promise<Log> {
  if (durability === "memory") return new MemoryLog();
  return FileLog.open({ dir: dir as string, durability });
}

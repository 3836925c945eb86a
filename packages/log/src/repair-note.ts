import { join } from "node:path";
import { SluiceError } from "@sluice/protocol";
import type { Disk } from "./disk.ts";

/** Lies in the directory while a repair moves files: a log half moved must not be opened. */
export const REPAIR_NOTE = "repairing.json";

export async function checkNoRepair(disk: Disk, dir: string): Promise<void> {
  if (!(await disk.list(dir)).includes(REPAIR_NOTE)) return;
  throw new SluiceError(
    "LOG_DAMAGED",
    `a repair of the log in ${dir} was interrupted: run "sluice log repair" again`,
    { file: join(dir, REPAIR_NOTE), offset: 0, what: "a repair was interrupted" },
  );
}

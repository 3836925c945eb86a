/** A log by the options that name its place: in memory, in a directory or in PostgreSQL. */
import { invalid, needs } from "@sluice/protocol";
import { FileLog } from "./file-log.ts";
import type { Log, TornTail } from "./log.ts";
import { MemoryLog } from "./memory-log.ts";

export interface LogPlace {
  readonly durability?: "fsync" | "os" | "memory" | undefined;
  readonly dir?: string | undefined;
  /** The address of a PostgreSQL database, in place of a directory. */
  readonly log?: string | undefined;
}

export interface OpenLogOptions {
  readonly onTorn?: (torn: TornTail) => void;
  readonly onWarning?: (warning: string) => void;
}

export async function openLog(place: LogPlace, options: OpenLogOptions = {}): Promise<Log> {
  const { durability = "fsync", dir, log } = place;
  if (durability === "memory") return new MemoryLog();
  if (log !== undefined) return openPostgres(log, durability, options);
  if (dir === undefined) throw invalid("dir", "the path of a directory", dir);
  const { onTorn } = options;
  return FileLog.open({ dir, durability, ...(onTorn === undefined ? {} : { onTorn }) });
}

async function openPostgres(
  address: string,
  durability: "fsync" | "os",
  { onWarning = () => {} }: OpenLogOptions,
): Promise<Log> {
  const load = () => import("./postgres/index.ts");
  const { PostgresLog, parsePostgresAddress } = await needs("a log in PostgreSQL", ["pg"], load);
  const parsed = parsePostgresAddress("log", address);
  return needs("a log in PostgreSQL", ["pg"], () =>
    PostgresLog.open({ ...parsed, durability, onWarning }),
  );
}

/**
 * A backup on disk: a directory for each partition (`partition-3`), which is an ordinary log, and
 * `cluster.json`, which is written last. Without it a backup is not complete.
 */
import { mkdir, open, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import type { Copied } from "@sluice/log";
import { SluiceError } from "@sluice/protocol";
import { checkPartitions } from "../node/cluster-entry.ts";
import type { Placement } from "../node/placement.ts";

export interface BackupNote {
  /** Of this file. */
  readonly format: 1;
  readonly name: string;
  readonly partitions: number;
  /** How many there were at first. */
  readonly homes: number;
  readonly level: number;
  /** Wall time at which the first partition was read. */
  readonly takenAt: number;
  readonly logs: readonly BackedUpLog[];
  /** Where queues are that are not at home alone. */
  readonly queues: Readonly<Record<string, readonly number[]>>;
  /** Which of them take new jobs, and where a queue was moving; absent: all, and nowhere. */
  readonly moves?: Readonly<Record<string, Pick<Placement, "adds" | "to">>> | undefined;
}

export interface BackedUpLog extends Copied {
  readonly partition: number;
  /** Why it is not in the backup. */
  readonly error?: string | undefined;
}

const NOTE = "cluster.json";
const FORMAT = 1;

export function partitionDir(dir: string, partition: number): string {
  return join(dir, `partition-${partition}`);
}

/** A new directory, or one that is empty: two backups must not be mixed. */
export async function makeBackupDir(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
  if ((await readdir(dir)).length === 0) return;
  const message = `${dir} is not empty: name a new directory for the backup`;
  throw new SluiceError("CONFLICT", message, { field: "dir", value: dir });
}

export async function writeNote(dir: string, note: BackupNote): Promise<void> {
  await writeDurably(join(dir, NOTE), `${JSON.stringify(note, undefined, 2)}\n`);
}

export async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(`${path}.new`, "w");
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}

export async function readNote(dir: string): Promise<BackupNote> {
  const path = join(dir, NOTE);
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) {
    const message = `${dir} is not a complete backup: it has no ${NOTE}`;
    throw new SluiceError("NOT_FOUND", message, { field: "dir", value: dir });
  }
  return parseNote(path, text);
}

function parseNote(path: string, text: string): BackupNote {
  let note: BackupNote;
  try {
    note = JSON.parse(text);
    checkPartitions(note.partitions);
  } catch (error) {
    const message = `${path} cannot be read: ${(error as Error).message}`;
    throw new SluiceError("INVALID", message, { field: "dir" }, { cause: error });
  }
  if (note.format === FORMAT && Array.isArray(note.logs)) return note;
  const message = `${path} has format ${note.format}; this release reads format ${FORMAT}`;
  throw new SluiceError("INVALID", message, { field: "dir" });
}

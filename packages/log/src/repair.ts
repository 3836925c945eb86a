import { join, resolve } from "node:path";
import { type CheckOptions, withLock } from "./check.ts";
import { type Disk, readWhole, writeAll } from "./disk.ts";
import { damaged } from "./errors.ts";
import { FileLog } from "./file-log.ts";
import { type Damage, inspect, type LogReport } from "./inspect.ts";
import { REPAIR_NOTE_BYTES_MAX } from "./limits.ts";
import type { Position } from "./log.ts";
import { type Processes, realProcesses } from "./processes.ts";
import { realDisk } from "./real-disk.ts";
import { REPAIR_NOTE } from "./repair-note.ts";
import { isSealNote } from "./seal-note.ts";
import { baseOf } from "./segment.ts";

export interface RepairReport {
  /** What was found; without damages nothing was done. */
  readonly found: LogReport;
  /** The byte ranges that are lost: all damages but those that cost nothing. */
  readonly lost: readonly Damage[];
  /** The directory with the files as they were; undefined when nothing was done. */
  readonly aside: string | undefined;
}

/** What the note says while files are moved: enough to finish it after a crash. */
interface Note {
  readonly aside: string;
  readonly originals: readonly string[];
  readonly repaired: readonly string[];
  readonly found: LogReport;
}

/**
 * Makes a damaged log one that opens, out of the batches that are intact.
 *
 *   1. they are written to a new log in `damaged-<n>/intact`, synced and closed;
 *   2. a note is left in the directory, from now on the log cannot be opened;
 *   3. the originals are moved to `damaged-<n>`, the new segments into the directory;
 *   4. the note is moved to `damaged-<n>/report.json`.
 *
 * Nothing is ever unlinked. After a crash in 1 the log is as it was; in 3 or 4 another repair ends
 * it. The new log begins behind the end of the old one: no position is used twice.
 */
export async function repairLog(dir: string, options: CheckOptions = {}): Promise<RepairReport> {
  const { disk = realDisk, processes = realProcesses, onProgress } = options;
  const path = resolve(dir);
  return withLock(disk, path, processes, async () => {
    const names = await disk.list(path);
    if (names.includes(REPAIR_NOTE)) return moveFiles(disk, path, await readNote(disk, path));
    const found = await inspect(disk, path, onProgress === undefined ? {} : { onProgress });
    if (found.damages.length === 0) return { found, lost: [], aside: undefined };
    const aside = freeName(names);
    const originals = names.filter(isOfLog);
    const first = firstFree([found.end, ...originals.map((name) => baseOf(name) ?? 0)]);
    const intact = { dir: join(path, aside, "intact"), disk, processes };
    const repaired = await copyIntact(path, intact, first);
    const note: Note = { aside, originals, repaired, found };
    await writeNote(disk, path, note);
    return moveFiles(disk, path, note);
  });
}

async function copyIntact(
  from: string,
  to: { dir: string; disk: Disk; processes: Processes },
  first: Position,
): Promise<string[]> {
  const { disk } = to;
  // All of it is synced when the log is closed: not before it is needed.
  const log = await FileLog.openAt({ ...to, durability: "os" }, first);
  try {
    for await (const _batch of log.replay());
    await inspect(disk, from, { onBatch: async ({ facts }) => void (await log.append(facts)) });
  } finally {
    await log.close();
  }
  return (await disk.list(to.dir)).filter(isOfLog);
}

/** A segment, or the note of its end. */
function isOfLog(name: string): boolean {
  return baseOf(name) !== undefined || isSealNote(name);
}

/** Moves the rest. */
async function moveFiles(disk: Disk, dir: string, note: Note): Promise<RepairReport> {
  const aside = join(dir, note.aside);
  const intact = join(aside, "intact");
  await moveNamed(disk, note.originals, dir, aside);
  await moveNamed(disk, note.repaired, intact, dir);
  await disk.rename(join(dir, REPAIR_NOTE), join(aside, "report.json"));
  await disk.syncDir(aside);
  await disk.syncDir(dir);
  const lost = note.found.damages.filter(({ lengthBytes }) => lengthBytes > 0);
  return { found: note.found, lost, aside };
}

/** A file is durable under its new name before it may be gone under its old one. */
async function moveNamed(
  disk: Disk,
  names: readonly string[],
  from: string,
  to: string,
): Promise<void> {
  const there = new Set(await disk.list(from));
  for (const name of names) {
    if (there.has(name)) await disk.rename(join(from, name), join(to, name));
  }
  await disk.syncDir(to);
  await disk.syncDir(from);
}

async function writeNote(disk: Disk, dir: string, note: Note): Promise<void> {
  const draft = join(dir, note.aside, "note.new");
  const file = await disk.open(draft, "create");
  try {
    await writeAll(file, Buffer.from(`${JSON.stringify(note, undefined, 2)}\n`), 0);
    await file.sync();
  } finally {
    await file.close();
  }
  await disk.rename(draft, join(dir, REPAIR_NOTE));
  await disk.syncDir(dir);
}

async function readNote(disk: Disk, dir: string): Promise<Note> {
  const path = join(dir, REPAIR_NOTE);
  try {
    return JSON.parse((await readWhole(disk, path, REPAIR_NOTE_BYTES_MAX)).toString());
  } catch {
    throw damaged(path, 0, "the note of an interrupted repair cannot be read");
  }
}

function freeName(names: readonly string[]): string {
  for (let number = 1; ; number++) {
    if (!names.includes(`damaged-${number}`)) return `damaged-${number}`;
  }
}

/** Behind the old log and all its names: a file that is moved in is never taken for an original. */
function firstFree(used: readonly Position[]): Position {
  return (Math.floor(Math.max(...used) / 4096) + 1) * 4096;
}

import { randomUUID } from "node:crypto";
import { join, resolve } from "node:path";
import { SluiceError } from "@sluice/protocol";
import { codeOf, type Disk, type DiskFile, readWhole, writeAll } from "./disk.ts";
import { LOCK_BYTES_MAX, LOCK_TRIES_MAX } from "./limits.ts";
import type { Processes, ProcessName } from "./processes.ts";

const NAME = /^lock\.(\d{1,15})$/;
const DRAFT_NAME = /^lock\.[0-9a-f-]+\.new$/;

/**
 * Who has the log open. A lock is a file `lock.<number>` that names a process; only the one with
 * the highest number counts.
 *
 *   held    it names a process that runs
 *   free    it is empty: its owner has closed the log, or a power loss took the text
 *   stale   it names a process that is gone
 *
 * To take a free or stale lock n, a process makes lock n + 1, complete with its text, under a name
 * that must not exist yet: of several, one succeeds. Then it looks again and steps back when there
 * is a higher one, and then it removes the lower ones. The highest lock is never removed, only
 * emptied, so the highest number never falls; a process that looked before another was faster finds
 * either the number taken or a higher one. Nothing here is synced: a power loss ends all owners.
 *
 * An owner that was taken for dead (it runs in another container and has the same pid as a process
 * here) learns it from its own lock, which has lost its name, before its next write. So does one
 * whose directory was moved or replaced: its lock is not found where it was made.
 */
export class Lock {
  readonly #file: DiskFile;
  readonly #dir: string;
  readonly #path: string;

  private constructor({ file, path }: Taken, dir: string) {
    this.#file = file;
    this.#dir = dir;
    // The process may change its directory.
    this.#path = resolve(path);
  }

  static async take(disk: Disk, dir: string, processes: Processes): Promise<Lock> {
    for (let tries = 0; tries < LOCK_TRIES_MAX; tries++) {
      const taken = await tryTake(disk, dir, processes);
      if (taken !== undefined) return new Lock(taken, dir);
    }
    throw locked(dir, undefined);
  }

  /** Throws when the directory is no longer this process's: what it wrote would not be found. */
  checkHeld(): void {
    if (this.#file.isAt(this.#path)) return;
    throw new SluiceError(
      "LOG_FAILED",
      `another process has taken over the log in ${this.#dir}, or the directory was moved, ` +
        "replaced or deleted: this process may not write any more",
      { path: this.#dir },
    );
  }

  async release(): Promise<void> {
    try {
      await this.#file.truncate(0);
    } finally {
      await this.#file.close();
    }
  }
}

/** A lock and where it is. */
interface Taken {
  readonly file: DiskFile;
  readonly path: string;
}

/** Undefined when another process was faster, and it is time to look again. */
async function tryTake(disk: Disk, dir: string, processes: Processes): Promise<Taken | undefined> {
  const highest = Math.max(0, ...numbersOf(await disk.list(dir)));
  if (highest > 0) {
    const owner = await readOwner(disk, lockPath(dir, highest));
    if (owner === "moved") return undefined;
    if (owner !== undefined && processes.isRunning(owner)) throw locked(dir, owner);
  }
  const draft = join(dir, `lock.${randomUUID()}.new`);
  const file = await disk.open(draft, "create");
  let isTaken = false;
  try {
    await writeAll(file, Buffer.from(`${JSON.stringify(processes.self())}\n`), 0);
    isTaken = await publish(disk, dir, draft, highest + 1);
    return isTaken ? { file, path: lockPath(dir, highest + 1) } : undefined;
  } finally {
    if (!isTaken) await file.close();
    await unlinkIfThere(disk, draft);
  }
}

async function publish(disk: Disk, dir: string, draft: string, number: number): Promise<boolean> {
  try {
    await disk.link(draft, lockPath(dir, number));
  } catch (error) {
    // The number is taken; or the draft was removed by a process with a higher one.
    if (codeOf(error) === "EEXIST" || codeOf(error) === "ENOENT") return false;
    throw error;
  }
  const names = await disk.list(dir);
  if (numbersOf(names).some((other) => other > number)) {
    await unlinkIfThere(disk, lockPath(dir, number));
    return false;
  }
  for (const name of names) {
    const isLower = (numberOf(name) ?? number) < number;
    if (isLower || DRAFT_NAME.test(name)) await unlinkIfThere(disk, join(dir, name));
  }
  return true;
}

/** Undefined when the lock is free, "moved" when it has been removed meanwhile. */
async function readOwner(disk: Disk, path: string): Promise<ProcessName | undefined | "moved"> {
  try {
    const bytes = await readWhole(disk, path, LOCK_BYTES_MAX);
    return parseOwner(bytes.toString());
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "moved";
    throw error;
  }
}

/** A text that is no name can only be what a power loss left: it had been complete when linked. */
function parseOwner(text: string): ProcessName | undefined {
  try {
    const { pid, startedTicks, bootId } = JSON.parse(text);
    if (!Number.isSafeInteger(pid) || pid < 1) return undefined;
    return {
      pid,
      startedTicks: Number.isSafeInteger(startedTicks) ? startedTicks : null,
      bootId: typeof bootId === "string" ? bootId : null,
    };
  } catch {
    return undefined;
  }
}

function numberOf(name: string): number | undefined {
  const digits = NAME.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

function numbersOf(names: readonly string[]): number[] {
  return names.map(numberOf).filter((number) => number !== undefined);
}

function lockPath(dir: string, number: number): string {
  return join(dir, `lock.${number}`);
}

async function unlinkIfThere(disk: Disk, path: string): Promise<void> {
  try {
    await disk.unlink(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

function locked(dir: string, owner: ProcessName | undefined): SluiceError {
  const who =
    owner === undefined
      ? "others that open it at the same time"
      : owner.pid === process.pid
        ? `this very process (${owner.pid})`
        : `process ${owner.pid}`;
  const message =
    `the log in ${dir} is in use by ${who}. Only one process can open a directory: ` +
    `run "sluice serve --dir ${dir}" in one, and use Sluice.connect in the others`;
  return new SluiceError("LOG_LOCKED", message, {
    path: dir,
    ...(owner === undefined ? {} : { pid: owner.pid }),
  });
}

// A directory on a real disk for one measurement, gone afterwards whatever becomes of it. Where
// temporary files live in memory a sync costs nothing, so such a place is passed over.

import { mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeTree } from "./remove-tree.ts";

const PREFIX = "sluice-bench-";
// Processes that this one cannot see may use the same place: theirs are younger.
const SWEPT_AGE_MS = 24 * 3_600_000;
const IN_MEMORY = [0x01021994, 0x858458f6];
const FILE_SYSTEMS = new Map([
  [0xef53, "ext4"],
  [0x58465342, "xfs"],
  [0x9123683e, "btrfs"],
  [0x794c7630, "overlayfs"],
]);

export class Scratch implements Disposable {
  readonly dir: string;
  // For the conditions of what is measured here.
  readonly disk: string;
  readonly #remove = (): void => removeTree(this.dir);

  constructor() {
    const place = placeOnDisk();
    const { type } = statfsSync(place);
    this.disk = `${FILE_SYSTEMS.get(type) ?? `file system 0x${type.toString(16)}`} at ${place}`;
    sweep(place);
    this.dir = mkdtempSync(join(place, `${PREFIX}${process.pid}-`));
    // A group that is stopped by a signal, or fails, leaves nothing behind either.
    process.on("exit", this.#remove);
    for (const signal of SIGNALS) process.on(signal, exitNow);
  }

  // The path of a new directory.
  fresh(): string {
    return mkdtempSync(join(this.dir, "data-"));
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.dir);
    return bavail * bsize;
  }

  [Symbol.dispose](): void {
    process.off("exit", this.#remove);
    for (const signal of SIGNALS) process.off(signal, exitNow);
    this.#remove();
  }
}

// What is left of a process that was killed, and so could not remove it.
function sweep(place: string): void {
  const names = readdirSync(place).filter((name) => name.startsWith(PREFIX));
  for (const name of names) {
    const [, pid] = /^(\d+)-/.exec(name.slice(PREFIX.length)) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      const path = join(place, name);
      if (Date.now() - statSync(path).mtimeMs > SWEPT_AGE_MS) rmSync(path, { recursive: true });
    } catch {
      // Owned by another user, or removed in the meantime.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

// Ctrl-C reaches every process of a terminal, this one too.
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
const exitNow = (): never => process.exit(143);

function placeOnDisk(): string {
  const places = [tmpdir(), "/var/tmp", process.cwd()];
  return places.find((place) => !isInMemory(place)) ?? process.cwd();
}

function isInMemory(place: string): boolean {
  try {
    return IN_MEMORY.includes(statfsSync(place).type);
  } catch {
    // A place that is not there is passed over as well.
    return true;
  }
}

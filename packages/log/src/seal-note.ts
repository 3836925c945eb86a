import { join } from "node:path";
import { codeOf, type Disk } from "./disk.ts";
import type { Position } from "./log.ts";

/** Where a log ended that was closed in order. */
export interface Sealed {
  /** Base of the segment with the seal. */
  readonly base: Position;
  /** Behind the seal. */
  readonly end: Position;
}

const NAME = /^(\d{16})-(\d{16})\.end$/;

/**
 * The seal is the last frame of a log, so cutting the log removes it. Its place is noted
 * once more, where no cut of a segment can take it: in the name of an empty file. A name has no
 * bytes that could be torn or flipped, and is there as a whole or not at all.
 *
 * The note stays while the log is open and after a crash: all that was there at the last orderly
 * end was synced, so a log never ends before it. The highest note counts.
 */
export async function noteSeal(disk: Disk, dir: string, sealed: Sealed): Promise<void> {
  const name = nameOf(sealed);
  const others = (await disk.list(dir)).filter((other) => NAME.test(other) && other !== name);
  const file = await disk.open(join(dir, name), "create");
  await file.close();
  await disk.syncDir(dir);
  for (const other of others) {
    try {
      if (sealedOf(other)!.end < sealed.end) await disk.unlink(join(dir, other));
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
    }
  }
}

/** Undefined when the log was never closed in order. */
export function findSeal(names: readonly string[]): Sealed | undefined {
  const notes = names.map(sealedOf).filter((sealed) => sealed !== undefined);
  return notes.sort((a, b) => a.end - b.end).at(-1);
}

export function isSealNote(name: string): boolean {
  return NAME.test(name);
}

function nameOf({ base, end }: Sealed): string {
  return `${digits(base)}-${digits(end)}.end`;
}

function digits(position: Position): string {
  return String(position).padStart(16, "0");
}

function sealedOf(name: string): Sealed | undefined {
  const [, base, end] = NAME.exec(name) ?? [];
  return base === undefined ? undefined : { base: Number(base), end: Number(end) };
}

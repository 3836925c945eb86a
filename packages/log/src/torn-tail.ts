import { join } from "node:path";
import { codeOf, type Disk, readAll, writeAll } from "./disk.ts";
import { CHUNK_BYTES, TORN_BYTES_MAX, TORN_FILES_MAX } from "./limits.ts";
import type { Position, TornTail } from "./log.ts";

/** `torn-<address>.<number>`: several tails may be cut at the same address. */
const NAME = /^torn-(\d{16})\.(\d{1,9})$/;

/** Says in one line what was cut and where it is. */
export function describeTorn({ file, offset, sizeBytes, aside }: TornTail): string {
  const what = `${sizeBytes} bytes at the end of ${file} cannot be shown to have been confirmed`;
  const kept = aside === undefined ? "not kept, because the disk is full" : `kept in ${aside}`;
  return `${what}: cut off at byte ${offset}, ${kept}`;
}

/** The usual report, for an opener that has no log of its own. */
export function warnOfTorn(torn: TornTail): void {
  process.emitWarning(describeTorn(torn), { type: "SluiceWarning", code: "SLUICE_TORN_TAIL" });
}

/**
 * Copies the tail of a segment to a file of its own, durable when it resolves. The oldest copies
 * are removed, so that they do not grow without a limit.
 */
export async function keepAside(
  disk: Disk,
  dir: string,
  tail: { readonly path: string; readonly offset: number; readonly sizeBytes: number },
  address: Position,
): Promise<string | undefined> {
  const copy = await copyTail(disk, dir, tail, address);
  await removeOldest(disk, dir);
  await disk.syncDir(dir);
  return copy;
}

async function copyTail(
  disk: Disk,
  dir: string,
  { path, offset, sizeBytes }: { path: string; offset: number; sizeBytes: number },
  address: Position,
): Promise<string | undefined> {
  const copy = join(dir, freeName(await disk.list(dir), address));
  const [from, to] = [await disk.open(path, "read"), await disk.open(copy, "create")];
  try {
    const endBytes = Math.min(sizeBytes, TORN_BYTES_MAX);
    const bytes = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, endBytes));
    for (let at = 0; at < endBytes; at += bytes.length) {
      const piece = bytes.subarray(0, Math.min(bytes.length, endBytes - at));
      const count = await readAll(from, piece, offset + at);
      await writeAll(to, piece.subarray(0, count), at);
    }
    await to.sync();
    return copy;
  } catch (error) {
    // To cut the tail makes room, and a broker that starts can make more.
    if (codeOf(error) !== "ENOSPC" && codeOf(error) !== "EDQUOT") throw error;
    await disk.unlink(copy);
    return undefined;
  } finally {
    await from.close();
    await to.close();
  }
}

/** A crash may leave a copy before its tail is cut: the next start makes another one. */
function freeName(names: readonly string[], address: Position): string {
  const prefix = `torn-${String(address).padStart(16, "0")}.`;
  for (let number = 1; ; number++) {
    if (!names.includes(`${prefix}${number}`)) return `${prefix}${number}`;
  }
}

/** Addresses only grow, so the lowest is the oldest. The newest one stays, however large it is. */
async function removeOldest(disk: Disk, dir: string): Promise<void> {
  const names = (await disk.list(dir)).filter((name) => NAME.test(name)).sort(byAge);
  let sizeBytes = 0;
  for (const [index, name] of names.reverse().entries()) {
    const path = join(dir, name);
    const file = await disk.open(path, "read");
    sizeBytes += await file.sizeBytes().finally(() => file.close());
    if (index === 0 || (index < TORN_FILES_MAX && sizeBytes <= TORN_BYTES_MAX)) continue;
    await disk.unlink(path);
  }
}

function byAge(one: string, other: string): number {
  const [, address, number] = NAME.exec(one)!;
  const [, otherAddress, otherNumber] = NAME.exec(other)!;
  return Number(address) - Number(otherAddress) || Number(number) - Number(otherNumber);
}

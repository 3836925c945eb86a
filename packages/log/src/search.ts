import { type DiskFile, readAll } from "./disk.ts";
import { FRAME_MAGIC, HEAD_BYTES_MAX, type Head, MAGIC_OFFSET, readHead, viewOf } from "./frame.ts";
import { CHUNK_BYTES } from "./limits.ts";
import type { Position } from "./log.ts";

export interface Place {
  readonly file: DiskFile;
  readonly base: Position;
  readonly sizeBytes: number;
}

/**
 * The first offset, from `from` on, of an intact frame head that belongs just there and that is
 * accepted. The body behind it may still be broken.
 */
export async function findHead(
  { file, base, sizeBytes }: Place,
  from: number,
  accepts: (head: Head, offset: number) => boolean,
): Promise<number | undefined> {
  const left = Math.max(0, sizeBytes - from);
  const window = Buffer.allocUnsafeSlow(Math.min(left, CHUNK_BYTES + HEAD_BYTES_MAX));
  for (let start = from; start < sizeBytes; start += CHUNK_BYTES) {
    const bytes = window.subarray(0, Math.min(window.length, sizeBytes - start));
    const known = bytes.subarray(0, await readAll(file, bytes, start));
    const view = viewOf(known);
    let index = known.indexOf(FRAME_MAGIC, MAGIC_OFFSET);
    // Heads that begin behind the chunk are seen whole in the next one.
    while (index !== -1 && index - MAGIC_OFFSET < CHUNK_BYTES) {
      const at = index - MAGIC_OFFSET;
      const head = readHead(known, view, at, known.length, base + start + at);
      if (typeof head === "object" && accepts(head, start + at)) return start + at;
      index = known.indexOf(FRAME_MAGIC, index + 1);
    }
  }
  return undefined;
}

/** Whether an intact head behind `offset` says that `offset` had been synced before it. */
export async function wasSynced(place: Place, offset: number): Promise<boolean> {
  const proof = await findHead(place, offset, (head, at) => at - head.unsynced > offset);
  return proof !== undefined;
}

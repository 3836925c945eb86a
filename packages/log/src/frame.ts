import { crc32 } from "node:zlib";
import { BLOCK_BYTES, FACTS_BYTES_MAX } from "./limits.ts";
import type { Position } from "./log.ts";

/**
 * A frame is one batch of facts on disk, or a note of the log to itself. All numbers are unsigned
 * and little-endian; a position takes 8 bytes.
 *
 *      0  checksum   crc32 of the rest of the head
 *      4  "SLf"      and the version of the format, 1
 *      8  kind       1 facts, 2 trim, 3 seal; three zero bytes
 *     12  length     of the body
 *     16  position   of this frame: one that was moved or copied does not fit
 *     24  unsynced   distance back to where all before was synced when this was written
 *     28  link       checksum of the frame before: one that does not follow it does not fit
 *     32  a crc32 for each block of 64 KiB of the body
 *         the body
 *
 * `unsynced` is what tells a torn tail from damage. A power loss may keep the end of a write and
 * lose its beginning, so an intact frame behind a broken one proves nothing by itself. But if it
 * says that the broken place had been synced before, then that was confirmed and is damaged now.
 *
 * To change the format: raise VERSION, keep bytes 0 to 8 and the meaning of the checksum, and read
 * the old version as long as logs with it may exist. An older program then refuses with LOG_VERSION
 * what it does not know, instead of taking it for damage.
 */
export const VERSION = 1;

export const FRAME_MAGIC = Buffer.from("SLf");
/** Where the magic is in the head. */
export const MAGIC_OFFSET = 4;
const MAGIC_WORD = 0x66_4c_53;
const HEAD_BYTES_MIN = 32;

/** The longest head: what a search must have in sight to judge one. */
export const HEAD_BYTES_MAX = headBytes(FACTS_BYTES_MAX);

export const FACTS = 1;
/** Its body is the position before which everything is forgotten. */
export const TRIM = 2;
/** The last frame of a log that was closed in order. Its body is empty. */
export const SEAL = 3;
export type Kind = typeof FACTS | typeof TRIM | typeof SEAL;

export interface Head {
  readonly checksum: number;
  readonly kind: Kind;
  readonly length: number;
  readonly unsynced: number;
  readonly link: number;
}

/**
 * Why bytes are not the frame that belongs there. `short`: they end too early; `magic`: nothing
 * like a frame; `checksum`: changed; `place`: it belongs elsewhere; `version`: intact, from a newer
 * program; `link`: it does not follow the frame before it.
 */
export type Flaw = "short" | "magic" | "checksum" | "place" | "version" | "link";

export function headBytes(length: number): number {
  return HEAD_BYTES_MIN + 4 * Math.ceil(length / BLOCK_BYTES);
}

export function frameBytes(length: number): number {
  return headBytes(length) + length;
}

export interface FrameFields {
  readonly kind: Kind;
  readonly position: Position;
  readonly unsynced: number;
  readonly link: number;
}

/** Writes a frame and answers its checksum, which the next one names as its link. */
export function writeFrame(
  into: Buffer,
  view: DataView,
  at: number,
  { kind, position, unsynced, link }: FrameFields,
  body: Uint8Array,
): number {
  const bodyAt = at + headBytes(body.length);
  view.setUint32(at + 4, MAGIC_WORD | (VERSION << 24), true);
  view.setUint32(at + 8, kind, true);
  view.setUint32(at + 12, body.length, true);
  putPosition(view, at + 16, position);
  view.setUint32(at + 24, unsynced, true);
  view.setUint32(at + 28, link, true);
  for (let start = 0, slot = at + HEAD_BYTES_MIN; start < body.length; slot += 4) {
    const end = Math.min(start + BLOCK_BYTES, body.length);
    view.setUint32(slot, crc32(body.subarray(start, end)), true);
    start = end;
  }
  const checksum = crc32(into.subarray(at + 4, bodyAt));
  view.setUint32(at, checksum, true);
  into.set(body, bodyAt);
  return checksum;
}

/** Reads the head at `at`, of which the bytes before `end` are known. */
export function readHead(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  end: number,
  position: Position,
): Head | Flaw {
  if (end - at < HEAD_BYTES_MIN) return "short";
  const magic = view.getUint32(at + 4, true);
  if ((magic & 0xff_ff_ff) !== MAGIC_WORD) return "magic";
  const length = view.getUint32(at + 12, true);
  if (length > FACTS_BYTES_MAX) return "checksum";
  const bodyAt = at + headBytes(length);
  if (bodyAt > end) return "short";
  const checksum = view.getUint32(at, true);
  if (crc32(bytes.subarray(at + 4, bodyAt)) !== checksum) return "checksum";
  const kind = view.getUint32(at + 8, true);
  if (magic >>> 24 !== VERSION || !isKnown(kind, length)) return "version";
  const unsynced = view.getUint32(at + 24, true);
  if (getPosition(view, at + 16) !== position || unsynced > position) return "place";
  return { checksum, kind, length, unsynced, link: view.getUint32(at + 28, true) };
}

/** The checksums of the body's blocks, from the intact head at `at`. */
export function blockChecksums(view: DataView, at: number, length: number): number[] {
  const end = at + HEAD_BYTES_MIN + 4 * Math.ceil(length / BLOCK_BYTES);
  const checksums: number[] = [];
  // Not `Array.from`: with it this took 4 % of the processor time of a simulated hour.
  for (let slot = at + HEAD_BYTES_MIN; slot < end; slot += 4) {
    checksums.push(view.getUint32(slot, true));
  }
  return checksums;
}

/** Whether the whole body behind the intact head at `at` is intact. All its bytes are there. */
export function isBodyIntact(bytes: Uint8Array, view: DataView, at: number, head: Head): boolean {
  const bodyAt = at + headBytes(head.length);
  for (let start = 0, slot = at + HEAD_BYTES_MIN; start < head.length; slot += 4) {
    const end = Math.min(start + BLOCK_BYTES, head.length);
    const block = bytes.subarray(bodyAt + start, bodyAt + end);
    if (crc32(block) !== view.getUint32(slot, true)) return false;
    start = end;
  }
  return true;
}

export function putPosition(view: DataView, at: number, position: Position): void {
  view.setUint32(at, position % 2 ** 32, true);
  view.setUint32(at + 4, Math.floor(position / 2 ** 32), true);
}

/** Larger than any safe integer when the bytes are none: it equals no position. */
export function getPosition(view: DataView, at: number): Position {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function isKnown(kind: number, length: number): kind is Kind {
  return kind === FACTS || (kind === TRIM && length === 8) || (kind === SEAL && length === 0);
}

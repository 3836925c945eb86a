import { crc32 } from "node:zlib";
import { getPosition, putPosition, VERSION, viewOf } from "./frame.ts";
import type { Position } from "./log.ts";

/**
 * A segment is a file named by its first address: the frame at position p is at the offset
 * p - base, and the next segment begins at the address where this one ends.
 *
 *      0  checksum   crc32 of bytes 4 to 32
 *      4  "SLs"      and the version of the format, 1
 *      8  base       of this segment: a file with a wrong name does not fit
 *     16  trimmed    base of the oldest segment that had to be there when this one was made
 *     24  link       checksum of the last frame before it
 *     28  four zero bytes
 */
export const HEADER_BYTES = 32;

const MAGIC_WORD = 0x73_4c_53;
const NAME = /^(\d{16})\.log$/;

export interface SegmentHeader {
  readonly base: Position;
  readonly trimmed: Position;
  readonly link: number;
}

export function segmentName(base: Position): string {
  return `${String(base).padStart(16, "0")}.log`;
}

/** The base of the segment with this name; undefined when it is another file. */
export function baseOf(name: string): Position | undefined {
  const base = Number(NAME.exec(name)?.[1] ?? Number.NaN);
  return Number.isSafeInteger(base) ? base : undefined;
}

export function writeHeader(view: DataView, { base, trimmed, link }: SegmentHeader): void {
  view.setUint32(4, MAGIC_WORD | (VERSION << 24), true);
  putPosition(view, 8, base);
  putPosition(view, 16, trimmed);
  view.setUint32(24, link, true);
  view.setUint32(28, 0, true);
  view.setUint32(0, checksumOf(view), true);
}

/** Only the checksum says that a header is broken: a newer version has one too. */
export function readHeader(bytes: Uint8Array): SegmentHeader | "broken" | "version" {
  if (bytes.length < HEADER_BYTES) return "broken";
  const view = viewOf(bytes);
  const magic = view.getUint32(4, true);
  if ((magic & 0xff_ff_ff) !== MAGIC_WORD) return "broken";
  if (view.getUint32(0, true) !== checksumOf(view)) return "broken";
  if (magic >>> 24 !== VERSION) return "version";
  return {
    base: getPosition(view, 8),
    trimmed: getPosition(view, 16),
    link: view.getUint32(24, true),
  };
}

function checksumOf(view: DataView): number {
  return crc32(new Uint8Array(view.buffer, view.byteOffset + 4, HEADER_BYTES - 4));
}

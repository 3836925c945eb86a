import { crc32 } from "node:zlib";
import { getPosition, putPosition, viewOf } from "../frame.ts";
import { FACTS_BYTES_MAX } from "../limits.ts";
import type { Position } from "../log.ts";

/**
 * One message of a stream: a batch of facts or a part of one, or a note of the log to itself. All
 * numbers are unsigned and little-endian; a position takes 8 bytes.
 *
 *      0  checksum   crc32 of all that follows, the body included
 *      4  "SLn"      and the version of the format, 2
 *      8  kind       1 facts, 2 fence, 3 trim, 4 break; three zero bytes
 *     12  index      which part of its batch this is; of a fence, which message of its run
 *     16  length     of the facts of the whole batch
 *     20  part       bytes of each part but the last; of a fence, how many messages it has
 *     24  position   of the batch: the sequence of its first part
 *     32  fence      the sequence of the fence behind which its owner writes
 *     40  chain      of facts and trims: the checksums of all messages before it (`chain.ts`)
 *     44  the body
 *
 * The sequence that a message gets is known before it is sent, because it is sent with the sequence
 * that it must follow; so a message that was moved or copied does not fit its place. Only a break
 * is stored wherever it arrives: its position and fence are 0. The body of a fence or a break is
 * the name of its owner, so that no two of them are the same.
 *
 * Version 1 has no chain: its body begins at 40, and the part of a fence is 0. It is read, and
 * never written.
 *
 * To change the format: raise VERSION, keep bytes 0 to 8 and the meaning of the checksum, and read
 * the old version as long as streams with it may exist.
 */
const VERSION = 2;
const UNCHAINED_VERSION = 1;
const MAGIC_WORD = 0x6e_4c_53;

export const HEAD_BYTES = 44;
const UNCHAINED_HEAD_BYTES = 40;

export const FACTS = 1;
export const FENCE = 2;
export const TRIM = 3;
export const BREAK = 4;
export type MessageKind = typeof FACTS | typeof FENCE | typeof TRIM | typeof BREAK;

export interface MessageHead {
  readonly kind: MessageKind;
  readonly index: number;
  readonly lengthBytes: number;
  readonly partBytes: number;
  readonly position: Position;
  readonly fence: Position;
  /** Undefined in a message of version 1. Of fences and breaks it means nothing. */
  readonly chain: number | undefined;
}

/** Why bytes are not a message of a log, or not the one that belongs there. */
export type MessageFlaw = "short" | "magic" | "checksum" | "version" | "place";

export function encodeMessage(head: MessageHead, body: Uint8Array): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(HEAD_BYTES + body.length);
  const view = viewOf(bytes);
  view.setUint32(4, MAGIC_WORD | (VERSION << 24), true);
  view.setUint32(8, head.kind, true);
  view.setUint32(12, head.index, true);
  view.setUint32(16, head.lengthBytes, true);
  view.setUint32(20, head.partBytes, true);
  putPosition(view, 24, head.position);
  putPosition(view, 32, head.fence);
  view.setUint32(40, head.chain ?? 0, true);
  bytes.set(body, HEAD_BYTES);
  view.setUint32(0, crc32(bytes.subarray(4)), true);
  return bytes;
}

/** Reads and checks the message that has this sequence. */
export function decodeMessage(bytes: Uint8Array, sequence: Position): MessageHead | MessageFlaw {
  if (bytes.length < UNCHAINED_HEAD_BYTES) return "short";
  const view = viewOf(bytes);
  const magic = view.getUint32(4, true);
  if ((magic & 0xff_ff_ff) !== MAGIC_WORD) return "magic";
  if (crc32(bytes.subarray(4)) !== checksumOf(bytes)) return "checksum";
  const version = magic >>> 24;
  const isReadable = version === VERSION || version === UNCHAINED_VERSION;
  if (!isReadable || !isKnown(view.getUint32(8, true))) return "version";
  if (bytes.length < headBytesOf(bytes)) return "short";
  const head = readHead(bytes);
  const isThere = head.position + head.index === sequence && head.fence <= sequence;
  const fits = head.kind === BREAK ? head.position === 0 : isThere;
  return fits && bytes.length - headBytesOf(bytes) === bodyBytes(head) ? head : "place";
}

/** The head of a message that was found intact before. */
export function readHead(bytes: Uint8Array): MessageHead {
  const view = viewOf(bytes);
  return {
    kind: view.getUint32(8, true) as MessageKind,
    index: view.getUint32(12, true),
    lengthBytes: view.getUint32(16, true),
    partBytes: view.getUint32(20, true),
    position: getPosition(view, 24),
    fence: getPosition(view, 32),
    chain: headBytesOf(bytes) === HEAD_BYTES ? view.getUint32(40, true) : undefined,
  };
}

export function bodyOf(message: Uint8Array): Uint8Array {
  return message.subarray(headBytesOf(message));
}

export function checksumOf(message: Uint8Array): number {
  return viewOf(message).getUint32(0, true);
}

function headBytesOf(message: Uint8Array): number {
  return message[7] === UNCHAINED_VERSION ? UNCHAINED_HEAD_BYTES : HEAD_BYTES;
}

/** Messages that a batch of facts takes. An empty one takes one too. */
export function partsOf({ lengthBytes, partBytes }: MessageHead): number {
  return Math.max(1, Math.ceil(lengthBytes / partBytes));
}

const FLAW_TEXTS: Record<MessageFlaw, string> = {
  short: "the message ends too early",
  magic: "the message is none of a Sluice log",
  checksum: "the message does not fit its checksum",
  version: "the message is of a newer format",
  place: "the message belongs to another place",
};

export function describeMessageFlaw(flaw: MessageFlaw): string {
  return FLAW_TEXTS[flaw];
}

function bodyBytes({ kind, index, lengthBytes, partBytes }: MessageHead): number {
  if (kind !== FACTS) return lengthBytes;
  if (lengthBytes > FACTS_BYTES_MAX || partBytes === 0) return -1;
  return Math.min(partBytes, lengthBytes - index * partBytes);
}

function isKnown(kind: number): boolean {
  return kind >= FACTS && kind <= BREAK;
}

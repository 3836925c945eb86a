/** The packets of BEP 15 and the options of BEP 41, both ways. All numbers are big endian. */
import {
  NUMWANT_DEFAULT,
  NUMWANT_MAX,
  SCRAPE_HASHES_MAX,
  UDP_ANSWER_BYTES_MAX,
} from "../limits.ts";
import type { Announce, AnnounceEvent, ScrapeCounts } from "../wire/announce.ts";
import { NONE, PAUSED } from "../wire/announce.ts";

/** The number that begins every connect request: 0x41727101980 in two halves. */
export const MAGIC_HIGH = 0x417;
export const MAGIC_LOW = 0x27101980;

export const CONNECT = 0;
export const ANNOUNCE = 1;
export const SCRAPE = 2;
export const ERROR = 3;

export const CONNECT_BYTES = 16;
const ANNOUNCE_BYTES = 98;
const SCRAPE_HEAD_BYTES = 16;
const ANSWER_HEAD_BYTES = 20;
const HASH_BYTES = 20;
const COUNTS_BYTES = 12;
const ERROR_HEAD_BYTES = 8;
const TWO_32 = 2 ** 32;

export interface UdpAnnounce extends Announce {
  /** The client's claim of its address: 0 is none. Believed only from trusted ranges. */
  readonly claimedIp: number;
}

/** Undefined when the packet is too short or its port is 0. */
export function readAnnounce(packet: Buffer, address: string): UdpAnnounce | undefined {
  if (packet.length < ANNOUNCE_BYTES) return undefined;
  const port = (packet[96]! << 8) | packet[97]!;
  if (port === 0) return undefined;
  const event = packet.readUInt32BE(80);
  const numwant = packet.readInt32BE(92);
  return {
    hash: packet.toString("latin1", 16, 36),
    peerId: packet.toString("latin1", 36, 56),
    address,
    port,
    downloaded: readU64(packet, 56),
    left: readU64(packet, 64),
    uploaded: readU64(packet, 72),
    event: event <= 3 ? (event as AnnounceEvent) : NONE,
    key: packet.readUInt32BE(88),
    numwant: numwant < 0 ? NUMWANT_DEFAULT : Math.min(numwant, NUMWANT_MAX),
    claimedIp: packet.readUInt32BE(84),
  };
}

/** Undefined when there is no whole hash. More than the most are passed over. */
export function readScrape(packet: Buffer): string[] | undefined {
  const count = Math.floor((packet.length - SCRAPE_HEAD_BYTES) / HASH_BYTES);
  if (count < 1) return undefined;
  const hashes: string[] = [];
  for (let i = 0; i < Math.min(count, SCRAPE_HASHES_MAX); i++) {
    const at = SCRAPE_HEAD_BYTES + i * HASH_BYTES;
    hashes.push(packet.toString("latin1", at, at + HASH_BYTES));
  }
  return hashes;
}

export function connectAnswer(transaction: number, connectionId: Buffer): Buffer {
  const packet = Buffer.allocUnsafe(CONNECT_BYTES);
  packet.writeUInt32BE(CONNECT, 0);
  packet.writeUInt32BE(transaction, 4);
  connectionId.copy(packet, 8);
  return packet;
}

export interface AnnounceAnswer {
  readonly interval: number;
  readonly complete: number;
  readonly incomplete: number;
  /** Compact peers of the family by which the request came. */
  readonly peers: Buffer;
}

/** Peers of one answer that stay within one packet. */
export function peersThatFit(entryBytes: number): number {
  return Math.floor((UDP_ANSWER_BYTES_MAX - ANSWER_HEAD_BYTES) / entryBytes);
}

export function announceAnswer(transaction: number, answer: AnnounceAnswer): Buffer {
  const packet = Buffer.allocUnsafe(ANSWER_HEAD_BYTES + answer.peers.length);
  packet.writeUInt32BE(ANNOUNCE, 0);
  packet.writeUInt32BE(transaction, 4);
  packet.writeUInt32BE(answer.interval, 8);
  packet.writeUInt32BE(answer.incomplete, 12);
  packet.writeUInt32BE(answer.complete, 16);
  answer.peers.copy(packet, ANSWER_HEAD_BYTES);
  return packet;
}

export function scrapeAnswer(transaction: number, counts: readonly ScrapeCounts[]): Buffer {
  const packet = Buffer.allocUnsafe(8 + counts.length * COUNTS_BYTES);
  packet.writeUInt32BE(SCRAPE, 0);
  packet.writeUInt32BE(transaction, 4);
  for (const [i, { complete, downloaded, incomplete }] of counts.entries()) {
    packet.writeUInt32BE(complete, 8 + i * COUNTS_BYTES);
    packet.writeUInt32BE(downloaded, 12 + i * COUNTS_BYTES);
    packet.writeUInt32BE(incomplete, 16 + i * COUNTS_BYTES);
  }
  return packet;
}

/** Never longer than what was asked with: the text is cut. */
export function errorAnswer(transaction: number, text: string, requestBytes: number): Buffer {
  const packet = Buffer.from(`\0\0\0\0\0\0\0\0${text}`, "latin1");
  packet.writeUInt32BE(ERROR, 0);
  packet.writeUInt32BE(transaction, 4);
  return packet.subarray(0, Math.max(ERROR_HEAD_BYTES, Math.min(packet.length, requestBytes)));
}

export function connectRequest(transaction: number): Buffer {
  const packet = Buffer.allocUnsafe(CONNECT_BYTES);
  packet.writeUInt32BE(MAGIC_HIGH, 0);
  packet.writeUInt32BE(MAGIC_LOW, 4);
  packet.writeUInt32BE(CONNECT, 8);
  packet.writeUInt32BE(transaction, 12);
  return packet;
}

export interface OutgoingAnnounce {
  readonly connectionId: Buffer;
  readonly transaction: number;
  readonly announce: Announce;
  /** What goes into the IP field, 4 bytes, or undefined for none. */
  readonly ip: string | undefined;
  /** Path and query of the tracker's address, for BEP 41. */
  readonly path: string;
}

export function announceRequest(out: OutgoingAnnounce): Buffer {
  const { announce, ip } = out;
  const head = Buffer.alloc(ANNOUNCE_BYTES);
  out.connectionId.copy(head, 0);
  head.writeUInt32BE(ANNOUNCE, 8);
  head.writeUInt32BE(out.transaction, 12);
  head.write(announce.hash, 16, "latin1");
  head.write(announce.peerId, 36, "latin1");
  writeU64(head, announce.downloaded, 56);
  writeU64(head, announce.left, 64);
  writeU64(head, announce.uploaded, 72);
  head.writeUInt32BE(announce.event === PAUSED ? NONE : announce.event, 80);
  if (ip !== undefined) head.write(ip, 84, "latin1");
  head.writeUInt32BE(announce.key, 88);
  head.writeInt32BE(announce.numwant, 92);
  head.writeUInt16BE(announce.port, 96);
  return out.path === "" ? head : Buffer.concat([head, urlData(out.path)]);
}

const URL_DATA = 2;
const URL_DATA_BYTES_MAX = 255;

/** Path and query in pieces of 255 bytes, which the other side puts together, and an end. */
function urlData(path: string): Buffer {
  const bytes = Buffer.from(path, "latin1");
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += URL_DATA_BYTES_MAX) {
    const piece = bytes.subarray(at, at + URL_DATA_BYTES_MAX);
    parts.push(Buffer.from([URL_DATA, piece.length]), piece);
  }
  return Buffer.concat([...parts, Buffer.from([0])]);
}

/** Path and query out of the options behind an announce; what is cut off or unknown is skipped. */
export function readUrlData(packet: Buffer): string {
  let at = ANNOUNCE_BYTES;
  let path = "";
  while (at < packet.length) {
    const type = packet[at]!;
    if (type === 0) break;
    if (type === 1) {
      at++;
      continue;
    }
    const length = packet[at + 1];
    if (length === undefined) break;
    if (type === URL_DATA) path += packet.toString("latin1", at + 2, at + 2 + length);
    at += 2 + length;
  }
  return path;
}

export function readU64(packet: Buffer, at: number): number | bigint {
  const high = packet.readUInt32BE(at);
  const low = packet.readUInt32BE(at + 4);
  if (high < 0x200000) return high * TWO_32 + low;
  return (BigInt(high) << 32n) | BigInt(low);
}

export function writeU64(packet: Buffer, value: number | bigint, at: number): void {
  if (typeof value === "bigint") {
    packet.writeBigUInt64BE(value, at);
    return;
  }
  packet.writeUInt32BE(Math.floor(value / TWO_32), at);
  packet.writeUInt32BE(value >>> 0, at + 4);
}

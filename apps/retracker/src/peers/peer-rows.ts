/**
 * Local peers as rows of bytes in blocks. A row holds all that is known of one peer, its info hash
 * too, so that a block can be written to a file as it is and read back without anything else.
 *
 * Blocks remember whether they differ from what is stored: `changed` when a peer came, went or was
 * replaced, which is stored within seconds, or `touched` when only times and counters did, which
 * may wait for minutes.
 */
import { readU64, writeU64 } from "../udp/packets.ts";
import type { Announce } from "../wire/announce.ts";

const ROWS_PER_BLOCK = 128;
const SHIFT = 7;
const ROW_BYTES = 96;
export const BLOCK_BYTES = ROWS_PER_BLOCK * ROW_BYTES;

const HASH = 0;
const PEER_ID = 20;
/** 16 bytes; an IPv4 address takes the first four. */
const IP = 40;
const PORT = 56;
const FLAGS = 58;
const SEEN = 60;
const LEFT = 64;
const UPLOADED = 72;
const DOWNLOADED = 80;
const KEY = 88;
/** The place among the members of its swarm: of use only in memory. */
const PLACE = 92;

const USED = 1;
export const SEEDER = 2;
/** BEP 21: it has all that it wants, and not all that there is. */
export const PARTIAL = 4;
const V6 = 8;
const ID_BYTES = 20;

export class PeerRows {
  readonly #blocks: Buffer[] = [];
  #free: number[] = [];
  #end = 0;
  readonly changed = new Set<number>();
  readonly touched = new Set<number>();

  get blocks(): number {
    return this.#blocks.length;
  }

  /** Rows that are or were in use: all are below this number. */
  get end(): number {
    return this.#end;
  }

  /** A row for a peer, with its hash and its address in it. */
  take({ hash, address, port }: Pick<Announce, "hash" | "address" | "port">): number {
    const row = this.#free.pop() ?? this.#end++;
    if (row >> SHIFT === this.#blocks.length) this.#blocks.push(Buffer.alloc(BLOCK_BYTES));
    const block = this.#blocks[row >> SHIFT]!;
    const at = offset(row);
    block.fill(0, at, at + ROW_BYTES);
    block.write(hash, at + HASH, "latin1");
    block.write(address, at + IP, "latin1");
    block[at + PORT] = port >> 8;
    block[at + PORT + 1] = port & 0xff;
    block[at + FLAGS] = USED | (address.length === 4 ? 0 : V6);
    this.changed.add(row >> SHIFT);
    return row;
  }

  release(row: number): void {
    this.#blocks[row >> SHIFT]![offset(row) + FLAGS] = 0;
    this.changed.add(row >> SHIFT);
    this.#free.push(row);
  }

  /** Takes over what a peer says of itself; `flags` are those of `SEEDER` and `PARTIAL`. */
  update(row: number, announce: Announce, flags: number, second: number): void {
    const block = this.#blocks[row >> SHIFT]!;
    const at = offset(row);
    const all = (block[at + FLAGS]! & (USED | V6)) | flags;
    const isSameClient = isTextAt(block, at + PEER_ID, announce.peerId);
    if (!isSameClient) block.write(announce.peerId, at + PEER_ID, "latin1");
    if (isSameClient && block[at + FLAGS] === all) this.touched.add(row >> SHIFT);
    else this.changed.add(row >> SHIFT);
    block[at + FLAGS] = all;
    block.writeUInt32BE(second, at + SEEN);
    writeU64(block, announce.left, at + LEFT);
    writeU64(block, announce.uploaded, at + UPLOADED);
    writeU64(block, announce.downloaded, at + DOWNLOADED);
    block.writeUInt32BE(announce.key, at + KEY);
  }

  isUsed(row: number): boolean {
    return (this.#blocks[row >> SHIFT]![offset(row) + FLAGS]! & USED) !== 0;
  }

  /** Whether the peer has this address and this port. */
  isAt(row: number, address: string, port: number): boolean {
    const block = this.#blocks[row >> SHIFT]!;
    const at = offset(row);
    if (block[at + PORT + 1] !== (port & 0xff) || block[at + PORT] !== port >> 8) return false;
    if ((block[at + FLAGS]! & V6) !== (address.length === 4 ? 0 : V6)) return false;
    return isTextAt(block, at + IP, address);
  }

  /** Whether the peer's address begins with these bytes. */
  isFrom(row: number, network: string): boolean {
    const block = this.#blocks[row >> SHIFT]!;
    const at = offset(row);
    const isV4 = (block[at + FLAGS]! & V6) === 0;
    return isV4 === (network.length === 4) && isTextAt(block, at + IP, network);
  }

  hasHash(row: number, hash: string): boolean {
    return isTextAt(this.#blocks[row >> SHIFT]!, offset(row) + HASH, hash);
  }

  hashOf(row: number): string {
    const at = offset(row) + HASH;
    return this.#blocks[row >> SHIFT]!.toString("latin1", at, at + ID_BYTES);
  }

  peerIdOf(row: number): string {
    const at = offset(row) + PEER_ID;
    return this.#blocks[row >> SHIFT]!.toString("latin1", at, at + ID_BYTES);
  }

  hasPeerId(row: number, peerId: string): boolean {
    return isTextAt(this.#blocks[row >> SHIFT]!, offset(row) + PEER_ID, peerId);
  }

  /** 0 when the client sent none. */
  keyOf(row: number): number {
    return this.#blocks[row >> SHIFT]!.readUInt32BE(offset(row) + KEY);
  }

  addressOf(row: number): string {
    const block = this.#blocks[row >> SHIFT]!;
    const at = offset(row);
    const bytes = (block[at + FLAGS]! & V6) === 0 ? 4 : 16;
    return block.toString("latin1", at + IP, at + IP + bytes);
  }

  portOf(row: number): number {
    return this.#blocks[row >> SHIFT]!.readUInt16BE(offset(row) + PORT);
  }

  isV4(row: number): boolean {
    return (this.#blocks[row >> SHIFT]![offset(row) + FLAGS]! & V6) === 0;
  }

  /** Those of `SEEDER` and `PARTIAL` that hold. */
  flagsOf(row: number): number {
    return this.#blocks[row >> SHIFT]![offset(row) + FLAGS]! & (SEEDER | PARTIAL);
  }

  isSeeder(row: number): boolean {
    return (this.flagsOf(row) & SEEDER) !== 0;
  }

  seenAt(row: number): number {
    return this.#blocks[row >> SHIFT]!.readUInt32BE(offset(row) + SEEN);
  }

  placeOf(row: number): number {
    return this.#blocks[row >> SHIFT]!.readUInt32LE(offset(row) + PLACE);
  }

  setPlace(row: number, place: number): void {
    this.#blocks[row >> SHIFT]!.writeUInt32LE(place, offset(row) + PLACE);
  }

  /** Writes the peer's address and port, 6 or 18 bytes; false when it is of the other family. */
  copyCompact(row: number, isV4: boolean, target: Buffer, to: number): boolean {
    const block = this.#blocks[row >> SHIFT]!;
    const at = offset(row);
    if (((block[at + FLAGS]! & V6) === 0) !== isV4) return false;
    const bytes = isV4 ? 4 : 16;
    for (let i = 0; i < bytes; i++) target[to + i] = block[at + IP + i]!;
    target[to + bytes] = block[at + PORT]!;
    target[to + bytes + 1] = block[at + PORT + 1]!;
    return true;
  }

  /** What the peer said last, as an announce without an event. */
  announceOf(row: number): Omit<Announce, "event" | "numwant"> {
    const block = this.#blocks[row >> SHIFT]!;
    const at = offset(row);
    return {
      hash: this.hashOf(row),
      peerId: this.peerIdOf(row),
      address: this.addressOf(row),
      port: this.portOf(row),
      left: readU64(block, at + LEFT),
      uploaded: readU64(block, at + UPLOADED),
      downloaded: readU64(block, at + DOWNLOADED),
      key: block.readUInt32BE(at + KEY),
    };
  }

  /** The bytes of a block, for the file. */
  block(index: number): Buffer {
    return this.#blocks[index]!;
  }

  /** Puts a stored block back; calls back with each row in use. */
  restore(index: number, bytes: Buffer, onRow: (row: number) => void): void {
    while (this.#blocks.length <= index) this.#blocks.push(Buffer.alloc(BLOCK_BYTES));
    bytes.copy(this.#blocks[index]!);
    this.#end = Math.max(this.#end, (index + 1) * ROWS_PER_BLOCK);
    for (let row = index << SHIFT; row < (index + 1) << SHIFT; row++) {
      if (this.isUsed(row)) onRow(row);
    }
  }

  /** A stored row that finds no place, as when a bound was lowered; `collectFree` takes it. */
  forget(row: number): void {
    this.#blocks[row >> SHIFT]![offset(row) + FLAGS] = 0;
    this.changed.add(row >> SHIFT);
  }

  /** After all blocks are back: unused rows can be taken again, lowest first. */
  collectFree(): void {
    this.#free = [];
    for (let row = this.#end - 1; row >= 0; row--) if (!this.isUsed(row)) this.#free.push(row);
  }
}

function offset(row: number): number {
  return (row & (ROWS_PER_BLOCK - 1)) * ROW_BYTES;
}

/**
 * Byte by byte: to make a string only to compare it takes five times as long. From the end, for the
 * last bytes of peer ids differ most.
 */
function isTextAt(block: Buffer, at: number, text: string): boolean {
  for (let i = text.length - 1; i >= 0; i--) {
    if (block[at + i] !== text.charCodeAt(i)) return false;
  }
  return true;
}

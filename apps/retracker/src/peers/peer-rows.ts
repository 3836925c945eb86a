/**
 * Local peers as rows of bytes in blocks. A row holds all that is known of one peer, its info hash
 * too, so that a block can be written to the store as it is and read back without anything else.
 *
 * Blocks remember whether they differ from what is stored: `changed` when a peer came, went or
 * moved, which is stored within seconds, or `touched` when only times and counters did, which may
 * wait for minutes.
 */
import { readU64, writeU64 } from "../udp/packets.ts";
import type { Announce } from "../wire/announce.ts";

const ROWS_PER_BLOCK = 128;
const SHIFT = 7;
const ROW_BYTES = 100;
export const BLOCK_BYTES = ROWS_PER_BLOCK * ROW_BYTES;

const HASH = 0;
const PEER_ID = 20;
const IP4 = 40;
const PORT4 = 44;
const PORT6 = 46;
const IP6 = 48;
const SEEN = 64;
const FLAGS = 68;
const LEFT = 72;
const UPLOADED = 80;
const DOWNLOADED = 88;
const KEY = 96;

const USED = 1;
const SEEDER = 2;

export class PeerRows {
  readonly #blocks: Buffer[] = [];
  #free: number[] = [];
  #end = 0;
  readonly changed = new Set<number>();
  readonly touched = new Set<number>();

  get blocks(): number {
    return this.#blocks.length;
  }

  /** A row for a peer of a hash, with nothing else in it yet. */
  take(hash: string, peerId: string): number {
    const row = this.#free.pop() ?? this.#end++;
    if (row >> SHIFT === this.#blocks.length) this.#blocks.push(Buffer.alloc(BLOCK_BYTES));
    const block = this.#blocks[row >> SHIFT]!;
    const at = offset(row);
    block.fill(0, at, at + ROW_BYTES);
    block.write(hash, at + HASH, "latin1");
    block.write(peerId, at + PEER_ID, "latin1");
    block[at + FLAGS] = USED;
    this.changed.add(row >> SHIFT);
    return row;
  }

  release(row: number): void {
    this.#blocks[row >> SHIFT]![offset(row) + FLAGS] = 0;
    this.changed.add(row >> SHIFT);
    this.#free.push(row);
  }

  /** Takes over what a peer says of itself; answers whether it is a seeder now. */
  update(row: number, announce: Announce, isSeeder: boolean, second: number): void {
    const block = this.#blocks[row >> SHIFT]!;
    const at = offset(row);
    if (!this.#isAt(block, at, announce)) {
      this.#move(block, at, announce);
      this.changed.add(row >> SHIFT);
    }
    const flags = isSeeder ? USED | SEEDER : USED;
    if (block[at + FLAGS] !== flags) this.changed.add(row >> SHIFT);
    else this.touched.add(row >> SHIFT);
    block[at + FLAGS] = flags;
    block.writeUInt32BE(second, at + SEEN);
    writeU64(block, announce.left, at + LEFT);
    writeU64(block, announce.uploaded, at + UPLOADED);
    writeU64(block, announce.downloaded, at + DOWNLOADED);
    block.writeUInt32BE(announce.key, at + KEY);
  }

  #isAt(block: Buffer, at: number, { address, port }: Announce): boolean {
    const isV4 = address.length === 4;
    if (block.readUInt16BE(at + (isV4 ? PORT4 : PORT6)) !== port) return false;
    const ip = at + (isV4 ? IP4 : IP6);
    return isTextAt(block, ip, address);
  }

  /** A peer may have one address of each family. */
  #move(block: Buffer, at: number, { address, port }: Announce): void {
    const isV4 = address.length === 4;
    block.write(address, at + (isV4 ? IP4 : IP6), "latin1");
    block.writeUInt16BE(port, at + (isV4 ? PORT4 : PORT6));
  }

  hashOf(row: number): string {
    const at = offset(row) + HASH;
    return this.#blocks[row >> SHIFT]!.toString("latin1", at, at + 20);
  }

  peerIdOf(row: number): string {
    const at = offset(row) + PEER_ID;
    return this.#blocks[row >> SHIFT]!.toString("latin1", at, at + 20);
  }

  hasPeerId(row: number, peerId: string): boolean {
    return isTextAt(this.#blocks[row >> SHIFT]!, offset(row) + PEER_ID, peerId);
  }

  isSeeder(row: number): boolean {
    return (this.#blocks[row >> SHIFT]![offset(row) + FLAGS]! & SEEDER) !== 0;
  }

  seenAt(row: number): number {
    return this.#blocks[row >> SHIFT]!.readUInt32BE(offset(row) + SEEN);
  }

  /** Writes the peer's address and port, 6 or 18 bytes; false when it has none of the family. */
  copyCompact(row: number, isV4: boolean, target: Buffer, to: number): boolean {
    const block = this.#blocks[row >> SHIFT]!;
    const at = offset(row);
    const port = at + (isV4 ? PORT4 : PORT6);
    if (block[port] === 0 && block[port + 1] === 0) return false;
    const ip = at + (isV4 ? IP4 : IP6);
    const bytes = isV4 ? 4 : 16;
    for (let i = 0; i < bytes; i++) target[to + i] = block[ip + i]!;
    target[to + bytes] = block[port]!;
    target[to + bytes + 1] = block[port + 1]!;
    return true;
  }

  /** What the peer said last, as an announce without an event. */
  announceOf(row: number): Omit<Announce, "event" | "numwant"> {
    const block = this.#blocks[row >> SHIFT]!;
    const at = offset(row);
    const isV4 = block.readUInt16BE(at + PORT4) !== 0;
    const ip = at + (isV4 ? IP4 : IP6);
    return {
      hash: this.hashOf(row),
      peerId: this.peerIdOf(row),
      address: block.toString("latin1", ip, ip + (isV4 ? 4 : 16)),
      port: block.readUInt16BE(at + (isV4 ? PORT4 : PORT6)),
      left: readU64(block, at + LEFT),
      uploaded: readU64(block, at + UPLOADED),
      downloaded: readU64(block, at + DOWNLOADED),
      key: block.readUInt32BE(at + KEY),
    };
  }

  /** The bytes of a block, for the store. */
  block(index: number): Buffer {
    return this.#blocks[index]!;
  }

  /** Puts a stored block back; calls back with each row in use. */
  restore(index: number, bytes: Buffer, onRow: (row: number) => void): void {
    while (this.#blocks.length <= index) this.#blocks.push(Buffer.alloc(BLOCK_BYTES));
    bytes.copy(this.#blocks[index]!);
    this.#end = Math.max(this.#end, (index + 1) * ROWS_PER_BLOCK);
    for (let row = index << SHIFT; row < (index + 1) << SHIFT; row++) {
      if (this.#blocks[index]![offset(row) + FLAGS]! & USED) onRow(row);
    }
  }

  /** After all blocks are back: unused rows can be taken again, lowest first. */
  collectFree(): void {
    this.#free = [];
    for (let row = this.#end - 1; row >= 0; row--) {
      if ((this.#blocks[row >> SHIFT]![offset(row) + FLAGS]! & USED) === 0) this.#free.push(row);
    }
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

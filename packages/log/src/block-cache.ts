import { crc32 } from "node:zlib";
import { invalid } from "@sluice/protocol";
import { type DiskFile, readAll } from "./disk.ts";
import { damaged, flawed } from "./errors.ts";
import { blockChecksums, FACTS, frameBytes, headBytes, readHead, viewOf } from "./frame.ts";
import { BLOCK_BYTES, READ_HEADS_MAX, REGION_BYTES } from "./limits.ts";
import type { Position } from "./log.ts";

/** Where a frame is: in the segment that begins at `base`. */
export interface FramePlace {
  readonly base: Position;
  /** Where the segment ends. */
  readonly end: Position;
  readonly position: Position;
  /** Its file's path, for messages. */
  readonly path: () => string;
}

/** Lends the file of the segment that begins at `base`. */
export type UseFile = <T>(base: Position, act: (file: DiskFile) => Promise<T>) => Promise<T>;

interface CachedHead {
  /** Of the body. */
  readonly lengthBytes: number;
  /** Address of the body's first byte. */
  readonly bodyAt: Position;
  /** Of its blocks; copied, so that a head does not keep the whole region in memory. */
  readonly checksums: readonly number[];
}

/** What was read lately, the heads by position, the blocks by the address of their first byte. */
class Generation {
  readonly heads = new Map<Position, CachedHead>();
  readonly blocks = new Map<Position, Uint8Array>();
  bytes = 0;
}

/**
 * Blocks of bodies that were read and found intact. Payloads that were paged out are mostly read in
 * the order in which they were written, so one read takes a region: several small frames or two
 * blocks of a large one. What came in first leaves first, half of the cache at once: two maps that
 * are filled in turn. In one map of 8,192 entries, to find and delete the oldest took 4.4 µs.
 */
export class BlockCache {
  readonly #useFile: UseFile;
  readonly #bytesMax: number;
  #young = new Generation();
  #old = new Generation();
  /** Reads in flight, by address: callers that want the same share one read. */
  readonly #loading = new Map<Position, Promise<unknown>>();

  constructor(useFile: UseFile, bytesMax: number) {
    this.#useFile = useFile;
    this.#bytesMax = bytesMax;
  }

  /** The bytes if they are at hand, in one block; else undefined. */
  find(position: Position, offset: number, length: number): Uint8Array | undefined {
    const head = this.#head(position);
    if (head === undefined) return undefined;
    checkRange(head.lengthBytes, offset, length);
    const at = offset % BLOCK_BYTES;
    if (at + length > BLOCK_BYTES) return undefined;
    return this.#block(head.bodyAt + offset - at)?.subarray(at, at + length);
  }

  async load(place: FramePlace, offset: number, length: number): Promise<Uint8Array> {
    const head = this.#head(place.position) ?? (await this.#loadHead(place));
    checkRange(head.lengthBytes, offset, length);
    const bytes = new Uint8Array(length);
    for (let done = 0; done < length; ) {
      const at = (offset + done) % BLOCK_BYTES;
      const index = (offset + done - at) / BLOCK_BYTES;
      const known = this.#block(head.bodyAt + index * BLOCK_BYTES);
      const block = known ?? (await this.#loadBlock(place, head, index));
      const piece = block.subarray(at, at + length - done);
      if (piece.length === length) return piece;
      bytes.set(piece, done);
      done += piece.length;
    }
    return bytes;
  }

  #loadHead(place: FramePlace): Promise<CachedHead> {
    return this.#once(place.position, async () => {
      const region = await this.#readRegion(place, place.position);
      const head = this.#keepFrames(place.position, region);
      if (head !== undefined) return head;
      const flaw = readHead(region, viewOf(region), 0, region.length, place.position);
      const offset = place.position - place.base;
      throw flawed(place.path(), offset, typeof flaw === "string" ? flaw : "checksum");
    });
  }

  #loadBlock(place: FramePlace, head: CachedHead, index: number): Promise<Uint8Array> {
    const address = head.bodyAt + index * BLOCK_BYTES;
    return this.#once(address, async () => {
      const region = await this.#readRegion(place, address);
      const block = this.#keepBlocks(head, index, region);
      if (block !== undefined) return block;
      throw damaged(place.path(), address - place.base, "the facts do not fit their checksum");
    });
  }

  async #once<T>(address: Position, load: () => Promise<T>): Promise<T> {
    const known = this.#loading.get(address) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const loading = load().finally(() => this.#loading.delete(address));
    this.#loading.set(address, loading);
    return loading;
  }

  async #readRegion({ base, end }: FramePlace, address: Position): Promise<Buffer> {
    const region = Buffer.allocUnsafeSlow(Math.max(0, Math.min(REGION_BYTES, end - address)));
    const count = await this.#useFile(base, (file) => readAll(file, region, address - base));
    return region.subarray(0, count);
  }

  /** Keeps the frames that the region begins with; answers the head of the first. */
  #keepFrames(position: Position, region: Buffer): CachedHead | undefined {
    const view = viewOf(region);
    let first: CachedHead | undefined;
    for (let at = 0; at < region.length; ) {
      const found = readHead(region, view, at, region.length, position + at);
      if (typeof found === "string") break;
      const { kind, length: lengthBytes } = found;
      const bodyAt = position + at + headBytes(lengthBytes);
      const head = { lengthBytes, bodyAt, checksums: blockChecksums(view, at, lengthBytes) };
      const body = region.subarray(at + headBytes(lengthBytes));
      if (kind === FACTS) {
        if (this.#keepBlocks(head, 0, body) === undefined && lengthBytes > 0) break;
        this.#keepHead(position + at, head);
        first ??= head;
      } else if (at === 0) break;
      at += frameBytes(lengthBytes);
    }
    return first;
  }

  /** Keeps the whole blocks that the bytes begin with, from `index` on; answers the first. */
  #keepBlocks(head: CachedHead, index: number, bytes: Uint8Array): Uint8Array | undefined {
    let first: Uint8Array | undefined;
    for (let start = 0, next = index; ; start += BLOCK_BYTES, next++) {
      const length = Math.min(BLOCK_BYTES, head.lengthBytes - next * BLOCK_BYTES);
      if (length <= 0 || start + length > bytes.length) return first;
      const block = bytes.subarray(start, start + length);
      if (crc32(block) !== head.checksums[next]) return first;
      this.#keepBlock(head.bodyAt + next * BLOCK_BYTES, block);
      first ??= block;
    }
  }

  #head(position: Position): CachedHead | undefined {
    return this.#young.heads.get(position) ?? this.#old.heads.get(position);
  }

  #block(address: Position): Uint8Array | undefined {
    return this.#young.blocks.get(address) ?? this.#old.blocks.get(address);
  }

  #keepHead(position: Position, head: CachedHead): void {
    this.#young.heads.set(position, head);
    if (this.#young.heads.size > READ_HEADS_MAX / 2) this.#age();
  }

  #keepBlock(address: Position, block: Uint8Array): void {
    if (this.#block(address) !== undefined) return;
    this.#young.blocks.set(address, block);
    this.#young.bytes += block.length;
    if (this.#young.bytes > this.#bytesMax / 2) this.#age();
  }

  #age(): void {
    this.#old = this.#young;
    this.#young = new Generation();
  }
}

export function checkRange(lengthBytes: number, offset: number, length: number): void {
  if (!Number.isSafeInteger(offset) || offset < 0 || offset > lengthBytes) {
    throw invalid("offset", `a whole number from 0 to ${lengthBytes}`, offset);
  }
  const rest = lengthBytes - offset;
  if (!Number.isSafeInteger(length) || length < 0 || length > rest) {
    throw invalid("length", `a whole number from 0 to ${rest}`, length);
  }
}

/**
 * Keeps the local peers in a file of their own, block by block, each in its place with a checksum.
 * Peers that came, went or moved are there within `CHANGED_MS`. Times and counters of known peers
 * follow some blocks at a time, so that a million peers that only say that they are still there
 * cost little. A block that a power loss has torn is skipped and reported.
 *
 * Not in a store: stores are small things, and every pass of the log's cleaner writes them again.
 * Half a million peers in a store took a quarter of the processor's time.
 */
import { type FileHandle, open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import type { Clock } from "sluice";
import { Chore } from "../chore.ts";
import { BLOCK_BYTES } from "./peer-rows.ts";
import type { Swarms } from "./swarms.ts";

/** A kill loses at most this and the time of one write: less than 5 s together. */
const CHANGED_MS = 2_000;
/** Blocks of which only times and counters differ that each run writes: some megabytes a second. */
const TOUCHED_PER_RUN = 512;

/** The first bytes of the file: what it is, and the version of its format. */
const HEAD = Buffer.from("sluice peers 002");
const KIND = HEAD.subarray(0, -3);
const SUM_BYTES = 4;
const SLOT_BYTES = SUM_BYTES + BLOCK_BYTES;

export interface KeptPeersOptions {
  /** Undefined: nothing is kept. */
  readonly file: string | undefined;
  /** Whether a write is on the disk before it counts as done. */
  readonly isSynced: boolean;
  readonly clock: Clock;
  readonly swarms: Swarms;
  onError(error: unknown): void;
}

export class KeptPeers {
  readonly #options: KeptPeersOptions;
  readonly #handle: FileHandle | undefined;
  readonly #chore: Chore | undefined;

  private constructor(options: KeptPeersOptions, handle: FileHandle | undefined) {
    this.#options = options;
    this.#handle = handle;
    const { clock, onError } = options;
    const run = (): Promise<void> => this.#write();
    this.#chore = handle && new Chore({ clock, everyMs: CHANGED_MS, run, onError });
  }

  /** Reads what was kept, then keeps what changes. */
  static async open(options: KeptPeersOptions): Promise<KeptPeers> {
    const { file, swarms } = options;
    if (file === undefined) return new KeptPeers(options, undefined);
    // Made when it is not there; no other process opens it while our log is locked.
    const handle = await open(file, "a+").then(async (made) => {
      await made.close();
      return open(file, "r+");
    });
    await restore(handle, options);
    swarms.rows.collectFree();
    return new KeptPeers(options, handle);
  }

  async close(): Promise<void> {
    await this.#chore?.stop();
    if (this.#handle === undefined) return;
    const { changed, touched } = this.#options.swarms.rows;
    await this.#writeAll([...changed], changed);
    await this.#writeAll([...touched], touched);
    await this.#handle.close();
  }

  async #write(): Promise<void> {
    const { changed, touched } = this.#options.swarms.rows;
    await this.#writeAll([...changed], changed);
    // In the order in which they were touched first.
    await this.#writeAll([...touched.keys().take(TOUCHED_PER_RUN)], touched);
  }

  /** What changes while it is being written is in the set again afterwards. */
  async #writeAll(indexes: readonly number[], differing: Set<number>): Promise<void> {
    if (indexes.length === 0) return;
    const { rows } = this.#options.swarms;
    const slot = Buffer.allocUnsafe(SLOT_BYTES);
    for (const index of indexes) {
      differing.delete(index);
      rows.touched.delete(index);
      rows.block(index).copy(slot, SUM_BYTES);
      slot.writeUInt32LE(crc32(slot.subarray(SUM_BYTES)), 0);
      await this.#handle!.write(slot, 0, SLOT_BYTES, HEAD.length + index * SLOT_BYTES);
    }
    if (this.#options.isSynced) await this.#handle!.datasync();
  }
}

async function restore(handle: FileHandle, options: KeptPeersOptions): Promise<void> {
  const { file, swarms, onError } = options;
  const { size } = await handle.stat();
  if (size === 0) {
    await handle.write(HEAD, 0, HEAD.length, 0);
    return;
  }
  const head = Buffer.alloc(HEAD.length);
  await handle.read(head, 0, HEAD.length, 0);
  if (!head.equals(HEAD)) {
    if (!head.subarray(0, KIND.length).equals(KIND)) throw new Error(`${file} holds no peers`);
    // Peers come back within one announce interval, so there is no use in reading old formats.
    onError(new Error(`${file} was written by another version; starting without its peers`));
    await handle.truncate(0);
    await handle.write(HEAD, 0, HEAD.length, 0);
    return;
  }
  for (let index = 0; HEAD.length + (index + 1) * SLOT_BYTES <= size; index++) {
    const slot = Buffer.alloc(SLOT_BYTES);
    await handle.read(slot, 0, SLOT_BYTES, HEAD.length + index * SLOT_BYTES);
    const block = slot.subarray(SUM_BYTES);
    if (crc32(block) === slot.readUInt32LE(0)) swarms.restore(index, block);
    // A place that was never written is all zeros.
    else if (slot.some((byte) => byte !== 0)) {
      onError(new Error(`${file}: block ${index} is damaged, its peers are left out`));
    }
  }
}

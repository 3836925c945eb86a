/**
 * Keeps the local peers in a store, block by block. Peers that came, went or moved are there within
 * `CHANGED_MS`. Times and counters of known peers follow a few blocks at a time, so that a million
 * peers that only say that they are still there cost little.
 */
import type { Clock, Sluice, Store } from "sluice";
import { Chore } from "../chore.ts";
import { BLOCK_BYTES } from "./rows.ts";
import type { Swarms } from "./swarms.ts";

/** A kill loses at most this and the time of one write: less than 5 s together. */
const CHANGED_MS = 2_000;
/** Blocks of which only times and counters differ that each run writes: half a megabyte a second. */
const TOUCHED_PER_RUN = 64;
/** Blocks of one write, 17 KiB each: others wait for their encoding, a few milliseconds. */
const BLOCKS_PER_WRITE = 8;

export interface KeptPeersOptions {
  readonly sluice: Sluice;
  readonly clock: Clock;
  readonly swarms: Swarms;
  onError(error: unknown): void;
}

export class KeptPeers {
  readonly #store: Store<string>;
  readonly #swarms: Swarms;
  readonly #chore: Chore;

  private constructor({ sluice, clock, swarms, onError }: KeptPeersOptions) {
    this.#store = sluice.store<string>("retracker.peers");
    this.#swarms = swarms;
    const run = (): Promise<void> => this.#write();
    this.#chore = new Chore({ clock, everyMs: CHANGED_MS, run, onError });
  }

  /** Reads what was kept, then keeps what changes. */
  static async open(options: KeptPeersOptions): Promise<KeptPeers> {
    const { swarms } = options;
    const store = options.sluice.store<string>("retracker.peers");
    for await (const { key, value } of store.scan()) {
      const bytes = Buffer.from(String(value), "base64");
      const index = Number.parseInt(key, 36);
      if (bytes.length === BLOCK_BYTES && index >= 0) swarms.restore(index, bytes);
    }
    swarms.rows.collectFree();
    return new KeptPeers(options);
  }

  async close(): Promise<void> {
    await this.#chore.stop();
    await this.flush();
  }

  /** Writes all that differs from what is stored. */
  async flush(): Promise<void> {
    const { changed, touched } = this.#swarms.rows;
    for (const index of touched) changed.add(index);
    touched.clear();
    await this.#writeAll([...changed], changed);
  }

  async #write(): Promise<void> {
    const { changed, touched } = this.#swarms.rows;
    await this.#writeAll([...changed], changed);
    // In the order in which they were touched first.
    await this.#writeAll([...touched.keys().take(TOUCHED_PER_RUN)], touched);
  }

  /** What changes while it is being written is in the set again afterwards. */
  async #writeAll(all: readonly number[], indexes: Set<number>): Promise<void> {
    const { rows } = this.#swarms;
    for (let start = 0; start < all.length; start += BLOCKS_PER_WRITE) {
      const batch = all.slice(start, start + BLOCKS_PER_WRITE);
      const entries = batch.map((index) => {
        indexes.delete(index);
        rows.touched.delete(index);
        return { key: index.toString(36), value: rows.block(index).toString("base64") };
      });
      await this.#store.batch(entries);
    }
  }
}

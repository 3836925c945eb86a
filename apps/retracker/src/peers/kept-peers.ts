/**
 * Keeps the local peers in a store, block by block. Peers that came, went or moved are there within
 * `CHANGED_MS`; times and counters of known peers follow within `TOUCHED_MS`, so that a million
 * peers that only say that they are still there cost little.
 */
import type { Clock, Sluice, Store } from "sluice";
import { Chore } from "../chore.ts";
import { BLOCK_BYTES } from "./rows.ts";
import type { Swarms } from "./swarms.ts";

/** A kill loses at most this and the time of one write: less than 5 s together. */
const CHANGED_MS = 2_000;
const TOUCHED_MS = 5 * 60_000;
/** Blocks of one write: 16 KiB each, encoded in about a millisecond. */
const BLOCKS_PER_WRITE = 64;

export interface KeptPeersOptions {
  readonly sluice: Sluice;
  readonly clock: Clock;
  readonly swarms: Swarms;
  onError(error: unknown): void;
}

export class KeptPeers {
  readonly #store: Store<string>;
  readonly #swarms: Swarms;
  readonly #clock: Clock;
  readonly #chore: Chore;
  #touchedAt: number;

  private constructor({ sluice, clock, swarms, onError }: KeptPeersOptions) {
    this.#store = sluice.store<string>("retracker.peers");
    this.#swarms = swarms;
    this.#clock = clock;
    this.#touchedAt = clock.now();
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
    await this.#writeAll(changed);
  }

  async #write(): Promise<void> {
    if (this.#clock.now() - this.#touchedAt < TOUCHED_MS) {
      await this.#writeAll(this.#swarms.rows.changed);
      return;
    }
    this.#touchedAt = this.#clock.now();
    await this.flush();
  }

  /** What changes while it is being written is in the set again afterwards. */
  async #writeAll(indexes: Set<number>): Promise<void> {
    const { rows } = this.#swarms;
    const all = [...indexes];
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

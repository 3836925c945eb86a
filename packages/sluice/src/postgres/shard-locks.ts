/** Which shards of the outbox this relay moves: each one is moved by one relay at a time. */
import type { Client } from "pg";
import { lacksRows } from "./batches.ts";
import { SHARDS } from "./schema.ts";

/** The classes of the advisory locks: of shards, and of relays that are there. */
const SHARD_LOCKS = 7_311_073;
const RELAY_LOCKS = 7_311_074;

/**
 * Locks belong to the connection: a relay that ends leaves none behind. Each relay holds one lock
 * that only says that it is there, so all know how many share the shards, and one that has more
 * than its part gives some up.
 */
export class ShardLocks {
  readonly #client: Client;
  readonly #own = new Set<number>();
  #isThere = false;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(client: Client) {
    this.#client = client;
  }

  /** The shards of this relay, after it has looked whether its part has changed. */
  async take(busy: ReadonlyMap<number, unknown>): Promise<readonly number[]> {
    const now = performance.now();
    if (now - this.#lookedAt >= LOOK_MS) {
      this.#lookedAt = now;
      await this.#share(busy);
    }
    return [...this.#own];
  }

  async release(): Promise<void> {
    await this.#client.query("SELECT pg_advisory_unlock_all()");
    this.#own.clear();
  }

  async #share(busy: ReadonlyMap<number, unknown>): Promise<void> {
    if (!this.#isThere) {
      await this.#client.query("SELECT pg_advisory_lock_shared($1, 0)", [RELAY_LOCKS]);
      this.#isThere = true;
    }
    // Locks belong to a database, but PostgreSQL lists those of all databases of the server.
    const count = `SELECT count(*)::int AS relays,
        (SELECT count(*)::int FROM sluice.outbox_shards) AS shards FROM pg_locks
      WHERE locktype = 'advisory' AND classid = $1 AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    const { relays, shards } = (await this.#client.query(count, [RELAY_LOCKS])).rows[0];
    if (shards < SHARDS) throw lacksRows();
    const part = Math.ceil(SHARDS / Math.max(1, relays));
    // One that has a batch on its way is given up when that has ended.
    for (const shard of [...this.#own].slice(part)) {
      if (!busy.has(shard)) await this.#giveUp(shard);
    }
    for (let shard = 0; shard < SHARDS && this.#own.size < part; shard++) {
      if (!this.#own.has(shard)) await this.#try(shard);
    }
  }

  async #try(shard: number): Promise<void> {
    const text = "SELECT pg_try_advisory_lock($1, $2) AS locked";
    const { rows } = await this.#client.query(text, [SHARD_LOCKS, shard]);
    if (rows[0].locked) this.#own.add(shard);
  }

  async #giveUp(shard: number): Promise<void> {
    this.#own.delete(shard);
    await this.#client.query("SELECT pg_advisory_unlock($1, $2)", [SHARD_LOCKS, shard]);
  }
}

/** How often a relay looks whether others have come or gone. */
const LOOK_MS = 1000;

import type { ClientBase } from "pg";
import type { Position } from "../log.ts";

/** A row of the log, with its place. */
export interface Entry {
  readonly position: Position;
  readonly entry: Uint8Array;
}

export interface StoredEntry extends Entry {
  /** By the clock of the database. */
  readonly storedAt: number;
}

/** The statements of a log. Each takes the connection that it runs on. */
export class Entries {
  readonly #log: number;

  constructor(log: number) {
    this.#log = log;
  }

  /**
   * Makes a fence behind the newest entry: from its commit on, the former owner's next statement
   * finds its position taken. A busy owner would always be faster, so the opener takes a lock that
   * statements of the owner share: it waits for the one that runs, and others wait behind it.
   */
  async setFence(
    client: ClientBase,
    encode: (position: Position) => Uint8Array,
  ): Promise<Position> {
    await client.query("BEGIN");
    try {
      await client.query("SELECT pg_advisory_xact_lock($1, $2)", [LOCKS, this.#log]);
      const position = (await this.last(client)) + 1;
      await client.query(
        "INSERT INTO sluice.entries (log, position, fence, entry) VALUES ($1, $2, $2, $3)",
        [this.#log, position, encode(position)],
      );
      await client.query("UPDATE sluice.logs SET fence = $2 WHERE id = $1", [this.#log, position]);
      await client.query("COMMIT");
      return position;
    } catch (error) {
      await client.query("ROLLBACK").catch(() => {});
      throw error;
    }
  }

  /** The position of the newest entry, 0 in a new log. */
  async last(client: ClientBase): Promise<Position> {
    const text = `SELECT greatest(coalesce(max(position), 0), (SELECT fence FROM sluice.logs
      WHERE id = $1)) AS last FROM sluice.entries WHERE log = $1`;
    const { rows } = await client.query(text, [this.#log]);
    return Number(rows[0].last);
  }

  /**
   * Stores the entries behind the one that the owner wrote last, all or none; answers how many.
   * None: that one is not there, since a statement before this one has failed.
   */
  async insert(
    client: ClientBase,
    entries: readonly Entry[],
    fence: Position,
  ): Promise<number | null> {
    const values: unknown[] = [this.#log, fence, entries[0]!.position - 1];
    for (const { position, entry } of entries) values.push(position, entry);
    const { text, name } = insertOf(entries.length);
    return (await client.query({ name, text, values })).rowCount;
  }

  async read(client: ClientBase, position: Position): Promise<Uint8Array | undefined> {
    const { rows } = await client.query({
      name: "sluice-read",
      text: "SELECT entry FROM sluice.entries WHERE log = $1 AND position = $2",
      values: [this.#log, position],
    });
    return rows[0]?.entry;
  }

  /** Entries from a position on, in order. */
  async page(client: ClientBase, from: Position, count: number): Promise<StoredEntry[]> {
    const { rows } = await client.query({
      name: "sluice-page",
      text: `SELECT position::float8, entry,
          extract(epoch FROM stored_at)::float8 * 1000 AS "storedAt"
        FROM sluice.entries WHERE log = $1 AND position >= $2 ORDER BY position LIMIT $3`,
      values: [this.#log, from, count],
    });
    return rows.map((row) => ({ ...row, storedAt: Math.floor(row.storedAt) }));
  }

  async sizeBytes(client: ClientBase): Promise<number> {
    const text = `SELECT coalesce(sum(octet_length(entry)), 0)::float8 AS bytes
      FROM sluice.entries WHERE log = $1 AND position <> fence`;
    return (await client.query(text, [this.#log])).rows[0].bytes;
  }

  /** Deletes what is before a position, if the log still has this fence; answers whether it has. */
  async trim(client: ClientBase, before: Position, fence: Position): Promise<boolean> {
    const text = `WITH owner AS (SELECT FROM sluice.logs WHERE id = $1 AND fence = $3 FOR SHARE),
        deleted AS (DELETE FROM sluice.entries
          WHERE log = $1 AND position < $2 AND EXISTS (SELECT FROM owner))
      SELECT count(*)::int AS owners FROM owner`;
    return (await client.query(text, [this.#log, before, fence])).rows[0].owners === 1;
  }
}

/** The class of the advisory locks of logs. */
const LOCKS = 7_311_071;

const inserts = new Map<number, { text: string; name: string }>();

/** A statement for each number of rows, so that the server plans it once. */
function insertOf(count: number): { text: string; name: string } {
  let insert = inserts.get(count);
  if (insert !== undefined) return insert;
  const rows = Array.from(
    { length: count },
    (_, i) => `($${4 + 2 * i}::bigint, $${5 + 2 * i}::bytea)`,
  );
  const text = `INSERT INTO sluice.entries (log, position, fence, entry)
    SELECT $1::integer, row.position, $2::bigint, row.entry
    FROM pg_advisory_xact_lock_shared(${LOCKS}, $1::integer),
      (VALUES ${rows.join(", ")}) AS row (position, entry)
    WHERE EXISTS (SELECT FROM sluice.entries
      WHERE log = $1::integer AND position = $3::bigint AND fence = $2::bigint)`;
  insert = { text, name: `sluice-insert-${count}` };
  // Large groups have many sizes, and each statement would stay at the server.
  if (count > 16) return { text, name: "" };
  inserts.set(count, insert);
  return insert;
}

/** Finds the log of a name, or makes it. */
export async function findLog(
  client: ClientBase,
  name: string,
  create: boolean,
): Promise<number | undefined> {
  const find = "SELECT id FROM sluice.logs WHERE name = $1";
  const { rows } = await client.query(find, [name]);
  if (rows.length > 0 || !create) return rows[0]?.id;
  await client.query("INSERT INTO sluice.logs (name) VALUES ($1) ON CONFLICT DO NOTHING", [name]);
  return (await client.query(find, [name])).rows[0]?.id;
}

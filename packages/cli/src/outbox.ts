/** What people ask and do of the outbox in a PostgreSQL database. */
import { isPassingInPostgres, postgresReason } from "@sluice/log/postgres";
import { needs, SluiceError } from "@sluice/protocol";
import type { Client } from "pg";

const PACKAGES = ["pg"] as const;
const ANSWER_MS = 10_000;

/** Connects to the database for one act; its errors are said in words. */
export async function withDatabase<T>(
  url: string,
  act: (client: Client) => Promise<T>,
): Promise<T> {
  const { default: pg } = await needs("sluice postgres", PACKAGES, () => import("pg"));
  const client = new pg.Client({
    connectionString: url,
    application_name: "sluice postgres",
    connectionTimeoutMillis: ANSWER_MS,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    return await act(client);
  } catch (error) {
    throw explained(error);
  } finally {
    await client.end().catch(() => {});
  }
}

export interface OutboxStatus {
  readonly waiting: number;
  readonly oldestSeconds: number | null;
  readonly refused: number;
  /** The oldest of those that were refused. */
  readonly rows: readonly RefusedRow[];
}

interface RefusedRow {
  readonly id: string;
  readonly queue: string;
  readonly code: string;
  readonly message: string;
}

export async function outboxStatus(client: Client): Promise<OutboxStatus> {
  const { rows: counts } = await client.query(
    `SELECT count(*) FILTER (WHERE error IS NULL)::int AS waiting,
      count(*) FILTER (WHERE error IS NOT NULL)::int AS refused,
      extract(epoch FROM now() - min(added_at) FILTER (WHERE error IS NULL))::float8 AS "oldestSeconds"
      FROM sluice.outbox`,
  );
  const { rows } = await client.query(
    `SELECT id::text, queue, error->>'code' AS code, error->>'message' AS message
      FROM sluice.outbox WHERE error IS NOT NULL ORDER BY id LIMIT 100`,
  );
  return { ...counts[0], rows };
}

/** Gives a refused row to the relay again, or all of them; answers how many. */
export async function retryRows(client: Client, id: string | undefined): Promise<number> {
  const text = `UPDATE sluice.outbox SET error = NULL WHERE error IS NOT NULL
    AND ($1::bigint IS NULL OR id = $1::bigint)`;
  return (await client.query(text, [id ?? null])).rowCount ?? 0;
}

/**
 * A row that is on its way must not be deleted: its batch would be another one when it is sent
 * again. So the delete changes the shard's number, which a relay that has picked the row meanwhile
 * finds changed; and it waits for a relay that was first.
 */
const DELETE = `WITH shard AS (UPDATE sluice.outbox_shards SET
    number = CASE WHEN batch = '{}' THEN number + 1 ELSE number END
    WHERE shard = (SELECT shard FROM sluice.outbox WHERE id = $1) AND NOT $1 = ANY(batch)
    RETURNING shard)
  DELETE FROM sluice.outbox WHERE id = $1 AND EXISTS (SELECT FROM shard)`;

export async function deleteRow(client: Client, id: string): Promise<void> {
  const { rowCount } = await client.query(DELETE, [id]);
  if (rowCount === 1) return;
  const message = `there is no row ${id} in the outbox, or it is on its way to the broker`;
  throw new SluiceError("NOT_FOUND", message, { id });
}

const MISSING = new Set(["42P01", "42883", "3F000"]);

function explained(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof SluiceError) return error;
  const reason = postgresReason(error);
  if (isPassingInPostgres(error)) {
    const message = `PostgreSQL does not answer: ${reason}`;
    return new SluiceError("UNAVAILABLE", message, {}, { cause: error });
  }
  const { code } = error as { code?: unknown };
  if (typeof code !== "string") return error;
  if (MISSING.has(code)) {
    const missing = "this database has no outbox: run `sluice postgres install`";
    return new SluiceError("NOT_FOUND", missing, {}, { cause: error });
  }
  const message = `PostgreSQL refuses: ${reason}`;
  return new SluiceError(kindOf(code), message, {}, { cause: error });
}

function kindOf(code: string): "FORBIDDEN" | "INVALID" | "NOT_FOUND" {
  if (/^28|^42501/.test(code)) return "FORBIDDEN";
  return code === "3D000" ? "NOT_FOUND" : "INVALID";
}

/** The batches of the outbox in the database: numbered before they are sent, settled afterwards. */
import type { ErrorJson } from "@sluice/protocol";
import type { Client } from "pg";
import { BATCH_BYTES_MAX, BATCH_ROWS_MAX, KEPT_HOURS } from "./limits.ts";

export interface Row {
  readonly id: string;
  readonly queue: string;
  readonly payload: Buffer;
  readonly options: object;
}

export interface Batch {
  readonly shard: number;
  readonly number: bigint;
  readonly rows: readonly Row[];
  readonly operationId: string;
  /** It may have been sent before: the broker may have its rows. */
  readonly isRepeated: boolean;
}

/**
 *   moved      the row is a job
 *   refused    it can never be one as it is: it is kept with the error
 *   later      the broker does not have it; `newest` is a number that a next batch must exceed
 */
export type Result =
  | { readonly kind: "moved"; readonly job: string }
  | { readonly kind: "refused"; readonly error: ErrorJson }
  | { readonly kind: "later"; readonly newest?: number };

/** Those of the shards that have a batch on its way, or rows that wait. */
export async function shardsWithRows(client: Client, shards: readonly number[]): Promise<number[]> {
  const text = `SELECT s.shard FROM sluice.outbox_shards s WHERE s.shard = ANY($1) AND
    (s.batch <> '{}' OR EXISTS
      (SELECT FROM sluice.outbox o WHERE o.shard = s.shard AND o.error IS NULL))`;
  const { rows } = await client.query<{ shard: number }>({
    name: "sluice-shards",
    text,
    values: [shards],
  });
  return rows.map(({ shard }) => shard);
}

/** The batch that is on its way, or a new one with the next number. */
export async function numberedBatch(
  client: Client,
  shard: number,
  resting: readonly string[],
): Promise<Batch | undefined> {
  const found = await client.query({
    name: "sluice-batch",
    text: `SELECT s.number, s.batch, (SELECT name FROM sluice.outbox_source) AS source
      FROM sluice.outbox_shards s WHERE s.shard = $1`,
    values: [shard],
  });
  const { number, batch, source } = found.rows[0];
  const batchOf = (rows: readonly Row[], n: bigint, isRepeated: boolean): Batch => {
    const operationId = `numbered:${source}.${shard}:${n}`;
    return { shard, number: n, rows, operationId, isRepeated };
  };
  if (batch.length > 0) return batchOf(await rowsOf(client, batch), BigInt(number), true);
  const picked = await pick(client, shard, resting);
  if (picked.length === 0) return undefined;
  const next = BigInt(number) + 1n;
  const { rowCount } = await client.query({
    name: "sluice-number",
    text: "UPDATE sluice.outbox_shards SET number = $2, batch = $3 WHERE shard = $1 AND number = $4",
    values: [shard, String(next), picked.map(({ id }) => id), number],
  });
  if (rowCount !== 1) throw new Error(`another relay has shard ${shard}`);
  return batchOf(picked, next, false);
}

const COLUMNS = "id, queue, payload, options";

async function rowsOf(client: Client, ids: readonly string[]): Promise<Row[]> {
  const text = `SELECT ${COLUMNS} FROM sluice.outbox WHERE id = ANY($1) ORDER BY id`;
  return (await client.query(text, [ids])).rows;
}

/** Rows of one queue, the oldest first: as many as a batch takes. */
async function pick(client: Client, shard: number, resting: readonly string[]): Promise<Row[]> {
  const waiting = "shard = $1 AND error IS NULL AND queue <> ALL($2)";
  const text = `SELECT ${COLUMNS} FROM sluice.outbox WHERE ${waiting} AND queue =
      (SELECT queue FROM sluice.outbox WHERE ${waiting} ORDER BY id LIMIT 1)
    ORDER BY id LIMIT ${BATCH_ROWS_MAX}`;
  const values = [shard, resting];
  const rows: Row[] = (await client.query({ name: "sluice-pick", text, values })).rows;
  let count = 0;
  for (let bytes = 0; count < rows.length; count++) {
    bytes += rows[count]!.payload.length;
    if (bytes > BATCH_BYTES_MAX && count > 0) break;
  }
  return rows.slice(0, count);
}

/**
 * Ends a batch: what was moved is deleted, what was refused keeps its error, the rest waits for a
 * batch with a higher number than any that the broker knows.
 */
export async function settle(
  client: Client,
  { shard, number, rows }: Batch,
  results: readonly Result[],
): Promise<void> {
  const moved = rows.flatMap(({ id }, i) => {
    const result = results[i]!;
    return result.kind === "moved" ? [{ id, job: result.job }] : [];
  });
  const refused = rows.flatMap(({ id }, i) => {
    const result = results[i]!;
    return result.kind === "refused" ? [{ id, error: result.error }] : [];
  });
  const newest = results.map((result) => (result.kind === "later" ? (result.newest ?? 0) : 0));
  await client.query({
    name: "sluice-settle",
    text: `WITH moved AS (SELECT * FROM jsonb_to_recordset($3) AS m (id bigint, job text)),
      deleted AS (DELETE FROM sluice.outbox o USING moved m WHERE o.id = m.id),
      kept AS (INSERT INTO sluice.outbox_moved (id, job) SELECT id, job FROM moved
        ON CONFLICT DO NOTHING),
      old AS (DELETE FROM sluice.outbox_moved WHERE id IN
        (SELECT id FROM sluice.outbox_moved WHERE moved_at < now() - interval '${KEPT_HOURS} hours'
          ORDER BY moved_at LIMIT ${2 * BATCH_ROWS_MAX})),
      refused AS (UPDATE sluice.outbox o SET error = r.error
        FROM jsonb_to_recordset($4) AS r (id bigint, error jsonb) WHERE o.id = r.id)
    UPDATE sluice.outbox_shards SET batch = '{}', number = greatest(number, $5)
      WHERE shard = $1 AND number = $2`,
    values: [
      ...[shard, String(number), JSON.stringify(moved), JSON.stringify(refused)],
      String(newest.reduce((a, b) => Math.max(a, b), 0)),
    ],
  });
}

export async function setAsleep(
  client: Client,
  shards: readonly number[],
  asleep: boolean,
): Promise<void> {
  // What is so already is not written.
  const text = "UPDATE sluice.outbox_shards SET asleep = $2 WHERE shard = ANY($1) AND asleep <> $2";
  await client.query(text, [shards, asleep]);
}

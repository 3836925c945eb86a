/** The batches of the outbox in the database: numbered before they are sent, settled afterwards. */
import { type ErrorJson, SluiceError } from "@sluice/protocol";
import type { Client } from "pg";
import {
  BATCH_BYTES_MAX,
  BATCH_OPTIONS_BYTES_MAX,
  BATCH_ROWS_MAX,
  FETCH_BYTES_MAX,
  KEPT_HOURS,
  PAYLOAD_BYTES_MAX,
} from "./limits.ts";

export interface Row {
  readonly id: string;
  readonly queue: string;
  /** Null: it is larger than any broker takes, and was not read. */
  readonly payload: Buffer | null;
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

/** What there is to do in a shard; without a batch all its rows are for queues that are full. */
export interface Work {
  readonly shard: number;
  readonly batch: Batch | undefined;
}

/** Options as text: an application may have changed how `pg` reads jsonb. */
const ROW = `id, queue, options::text,
  CASE WHEN octet_length(payload) <= ${PAYLOAD_BYTES_MAX} THEN payload END AS payload`;

/**
 * A new batch has rows of one queue, the oldest first, until they or their bytes are enough; that
 * of a shard in $3 has one row. One that is on its way is answered as it is.
 *
 * One statement numbers the batches of all shards, with one commit: with a statement for each, rows
 * of 16 tenants waited for 16 commits in a row. A shard whose number changes meanwhile is left for
 * the next time: another relay had it, or a row was deleted. So is one whose batch would make the
 * answer too large: the shards have their turns in the order of $1.
 */
const WORK = `WITH shards AS MATERIALIZED (SELECT shard, number, batch, turn
    FROM sluice.outbox_shards JOIN unnest($1::smallint[]) WITH ORDINALITY t (shard, turn)
    USING (shard)),
  waiting AS MATERIALIZED (SELECT shard, number, turn FROM shards s WHERE batch = '{}' AND
    EXISTS (SELECT FROM sluice.outbox o WHERE o.shard = s.shard AND o.error IS NULL)),
  picked AS MATERIALIZED (SELECT w.shard, w.number, w.turn, o.* FROM waiting w CROSS JOIN LATERAL
    (SELECT *, sum(size) OVER oldest AS bytes, row_number() OVER oldest AS place,
        sum(octet_length(options)) OVER oldest AS "optionsBytes" FROM
      (SELECT ${ROW}, octet_length(payload) AS size FROM sluice.outbox
        WHERE shard = w.shard AND error IS NULL AND queue = (SELECT queue FROM sluice.outbox
          WHERE shard = w.shard AND error IS NULL AND queue <> ALL($2) ORDER BY id LIMIT 1)
        ORDER BY id LIMIT ${BATCH_ROWS_MAX}) rows WINDOW oldest AS (ORDER BY id)) o
    WHERE o.place = 1 OR (w.shard <> ALL($3::smallint[]) AND
      o.bytes <= ${BATCH_BYTES_MAX} AND o."optionsBytes" <= ${BATCH_OPTIONS_BYTES_MAX})),
  sized AS MATERIALIZED (SELECT shard, turn, max(bytes) AS bytes FROM picked GROUP BY 1, 2
    UNION ALL SELECT shard, turn, (SELECT coalesce(sum(octet_length(payload)), 0)
      FROM sluice.outbox o WHERE o.id = ANY(s.batch)) FROM shards s WHERE batch <> '{}'),
  fetched AS MATERIALIZED (SELECT shard FROM (SELECT shard, sum(bytes) OVER turns AS bytes,
      row_number() OVER turns AS place FROM sized WINDOW turns AS (ORDER BY turn)) s
    WHERE place = 1 OR bytes <= ${FETCH_BYTES_MAX}),
  numbered AS (UPDATE sluice.outbox_shards s SET number = s.number + 1, batch = p.batch
    FROM (SELECT shard, number, array_agg(id ORDER BY id) AS batch
      FROM picked JOIN fetched USING (shard) GROUP BY 1, 2) p
    WHERE s.shard = p.shard AND s.number = p.number AND s.batch = '{}'
    RETURNING s.shard, s.number)
  SELECT w.shard, n.number, false AS "isRepeated", p.id, p.queue, p.payload, p.options
    FROM waiting w LEFT JOIN (numbered n JOIN picked p USING (shard)) USING (shard)
    WHERE w.shard IN (SELECT shard FROM fetched) OR w.shard NOT IN (SELECT shard FROM sized)
  UNION ALL SELECT s.shard, s.number, true, o.id, o.queue, o.payload, o.options
    FROM shards s LEFT JOIN (SELECT ${ROW} FROM sluice.outbox) o ON o.id = ANY(s.batch)
    WHERE s.batch <> '{}' AND s.shard IN (SELECT shard FROM fetched)
  ORDER BY shard, id`;

interface WorkRow extends Pick<Row, "queue" | "payload"> {
  readonly shard: number;
  /** A bigint is a text, unless the application has changed how `pg` reads it. */
  readonly number: string | bigint | null;
  /** Null in the row of a batch whose rows are gone, and of a shard without a batch. */
  readonly id: string | bigint | null;
  readonly options: string;
  readonly isRepeated: boolean;
}

export interface WorkFor {
  /** The first ones have their turn first. */
  readonly shards: readonly number[];
  readonly fullQueues: readonly string[];
  /** Shards whose next batch has one row. */
  readonly single: readonly number[];
}

/** Of these shards, those with rows that wait: their batches are numbered when it resolves. */
export async function nextWork(
  client: Client,
  source: string,
  { shards, fullQueues, single }: WorkFor,
): Promise<Work[]> {
  if (shards.length === 0) return [];
  const values = [shards, fullQueues, single];
  const { rows } = await client.query<WorkRow>({ name: "sluice-work", text: WORK, values });
  const byShard = Map.groupBy(rows, ({ shard }) => shard);
  return [...byShard.values()].map((of) => workOf(source, of));
}

function workOf(source: string, rows: readonly WorkRow[]): Work {
  const { shard, number, isRepeated } = rows[0]!;
  if (number === null) return { shard, batch: undefined };
  const operationId = `numbered:${source}.${shard}:${number}`;
  // A batch whose rows are gone has one row without anything.
  const own = rows
    .filter(({ id }) => id !== null)
    .map(({ id, queue, payload, options }) => {
      return { id: String(id), queue, payload, options: JSON.parse(options) };
    });
  return { shard, batch: { shard, number: BigInt(number), rows: own, operationId, isRepeated } };
}

/** Under this name a broker remembers the numbers of this database. */
export async function sourceOf(client: Client): Promise<string> {
  const [row] = (await client.query("SELECT name FROM sluice.outbox_source")).rows;
  if (row === undefined) throw lacksRows();
  return row.name;
}

/** Of an outbox whose tables were emptied. */
export function lacksRows(): SluiceError {
  const message =
    "the outbox in this database lacks rows of its own: run `sluice postgres install`";
  return new SluiceError("NOT_FOUND", message);
}

/**
 * Ends a batch, unless another relay has ended it: what was moved is deleted, what was refused
 * keeps its error, the rest waits for a batch with a higher number than any that the broker knows.
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
    // A settlement that a crash takes back is made again, so no row waits for its commit.
    text: `WITH async AS (SELECT set_config('synchronous_commit', 'off', true) AS mode),
      mine AS MATERIALIZED (SELECT FROM sluice.outbox_shards
        WHERE shard = $1 AND number = $2 AND batch <> '{}'),
      moved AS (SELECT m.* FROM mine, jsonb_to_recordset($3) AS m (id bigint, job text)),
      deleted AS (DELETE FROM sluice.outbox o USING moved m WHERE o.id = m.id),
      kept AS (INSERT INTO sluice.outbox_moved (id, job) SELECT id, job FROM moved
        ON CONFLICT DO NOTHING),
      old AS (DELETE FROM sluice.outbox_moved WHERE id IN
        (SELECT id FROM sluice.outbox_moved WHERE moved_at < now() - interval '${KEPT_HOURS} hours'
          ORDER BY moved_at LIMIT ${2 * BATCH_ROWS_MAX})),
      refused AS (UPDATE sluice.outbox o SET error = r.error
        FROM mine, jsonb_to_recordset($4) AS r (id bigint, error jsonb) WHERE o.id = r.id)
    UPDATE sluice.outbox_shards SET batch = '{}', number = greatest(number, $5)
      WHERE shard = $1 AND number = $2 AND (SELECT mode FROM async) = 'off'`,
    values: [
      ...[shard, String(number), JSON.stringify(moved), JSON.stringify(refused, storable)],
      String(newest.reduce((a, b) => Math.max(a, b), 0)),
    ],
  });
}

/** PostgreSQL refuses a statement with a zero character or half of a surrogate pair. */
function storable(_: string, value: unknown): unknown {
  return typeof value === "string" ? value.replaceAll("\0", "\ufffd").toWellFormed() : value;
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

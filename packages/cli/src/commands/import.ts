/** Moves jobs of another queue in a PostgreSQL database into the outbox of the same database. */
import { ATTEMPTS_MAX, SluiceError } from "@sluice/protocol";
import type { Client } from "pg";
import { type Call, type Command, Misuse, tell, textOf, wordsOf } from "../command.ts";
import { counted } from "../show.ts";
import { withClient } from "./postgres.ts";

const BATCH_ROWS = 5000;

interface Source {
  /** Where it has its tables. */
  readonly schema: string;
  /** Takes a batch of jobs that wait or are delayed: `queue`, `payload` and `options`. */
  taken(schema: string): string;
  /** A table that is there when it is installed. */
  readonly table: string;
}

/** A time in the future is kept; one in the past means now. */
const runAt = (time: string): string =>
  `CASE WHEN ${time} > now() THEN floor(extract(epoch FROM ${time}) * 1000)::bigint END`;

/** More are meant as "without end", and one such job would keep all from being moved. */
const attempts = (left: string): string => `least(${ATTEMPTS_MAX}, ${left})`;

const SOURCES: Readonly<Record<string, Source>> = {
  "pg-boss": {
    schema: "pgboss",
    table: "job",
    taken: (schema) => `DELETE FROM ${schema}.job WHERE id IN
        (SELECT id FROM ${schema}.job WHERE state IN ('created', 'retry')
          ORDER BY created_on, id LIMIT ${BATCH_ROWS} FOR UPDATE SKIP LOCKED)
      RETURNING created_on AS at, id::text AS id, name AS queue,
        convert_to(coalesce(data, 'null'::jsonb)::text, 'UTF8') AS payload,
        jsonb_strip_nulls(jsonb_build_object(
          'runAt', ${runAt("start_after")},
          'attempts', ${attempts("greatest(1, retry_limit - retry_count + 1)")},
          'fairnessKey', to_jsonb(job)->>'group_id')) AS options`,
  },
  graphile: {
    schema: "graphile_worker",
    table: "_private_jobs",
    taken: (schema) => `DELETE FROM ${schema}._private_jobs job USING ${schema}._private_tasks task
      WHERE task.id = job.task_id AND job.id IN
        (SELECT id FROM ${schema}._private_jobs WHERE locked_at IS NULL AND attempts < max_attempts
          ORDER BY id LIMIT ${BATCH_ROWS} FOR UPDATE SKIP LOCKED)
      RETURNING job.created_at AS at, lpad(job.id::text, 20, '0') AS id, task.identifier AS queue,
        convert_to(job.payload::text, 'UTF8') AS payload,
        jsonb_strip_nulls(jsonb_build_object(
          'runAt', ${runAt("job.run_at")},
          'attempts', ${attempts("job.max_attempts - job.attempts")},
          'fairnessKey', (SELECT queue_name FROM ${schema}._private_job_queues q
            WHERE q.id = job.job_queue_id),
          'ordered', CASE WHEN job.job_queue_id IS NOT NULL THEN true END)) AS options`,
  },
};

export const importCommand: Command = {
  name: "import",
  verbs: Object.keys(SOURCES),
  usage: `sluice import pg-boss     moves its jobs that wait, are delayed or will be retried
sluice import graphile    the same for Graphile Worker

Jobs go to the outbox of the same database, in one transaction with their deletion: nothing is lost
or doubled when it is interrupted, and it may be run again. Jobs that run at the moment stay.

  --postgres URL         postgres://user:password@host/database (SLUICE_POSTGRES)
  --schema NAME          where the tables are; default pgboss or graphile_worker`,
  options: { postgres: { type: "string" }, schema: { type: "string" } },
  run: async (call) => {
    const [name] = wordsOf(call.words, "pg-boss|graphile");
    const source = SOURCES[name];
    if (source === undefined) {
      throw new Misuse(`"${name}" is not one of ${Object.keys(SOURCES).join(", ")}`);
    }
    const schema = textOf(call, "schema") ?? source.schema;
    if (!/^[A-Za-z_]\w{0,62}$/.test(schema)) {
      throw new Misuse(`--schema must be the name of a schema, got ${JSON.stringify(schema)}`);
    }
    return withClient(call, (client) => moveAll(call, client, source, `"${schema}"`));
  },
};

async function moveAll(
  call: Call,
  client: Client,
  source: Source,
  schema: string,
): Promise<number> {
  await checkSource(client, `${schema}.${source.table}`);
  let moved = 0;
  for (;;) {
    const count = await moveSome(client, source.taken(schema));
    moved += count;
    if (count < BATCH_ROWS) break;
  }
  return tell(call, { moved }, () => {
    const jobs = counted(moved, "job was", "jobs were");
    return `${jobs} moved to the outbox: sluice serve --postgres gives them to their queues`;
  });
}

/** One statement is one transaction: a job is in one of the two places, whatever happens. */
async function moveSome(client: Client, taken: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `WITH taken AS (${taken}),
      ordered AS (SELECT * FROM taken ORDER BY at, id),
      added AS (SELECT sluice.add_bytes(queue, payload, options) AS id FROM ordered)
    SELECT count(id)::int AS count FROM added`,
  );
  return rows[0]!.count;
}

async function checkSource(client: Client, table: string): Promise<void> {
  const { rows } = await client.query("SELECT to_regclass($1) AS found", [table]);
  if (rows[0].found !== null) return;
  const message = `there is no table ${table} in this database: name its place with --schema`;
  throw new SluiceError("NOT_FOUND", message, { table });
}

/** Moves jobs of another queue in a PostgreSQL database into the outbox of the same database. */
import { WITHOUT_LIMITS } from "@sluice/log/postgres";
import { A_NAME, ATTEMPTS_MAX, isName, SluiceError } from "@sluice/protocol";
import type { Client } from "pg";
import {
  type Call,
  type Command,
  EXIT,
  Misuse,
  tell,
  textOf,
  textsOf,
  wordsOf,
} from "../command.ts";
import { counted } from "../show.ts";
import { withClient } from "./postgres.ts";

const BATCH_ROWS = 5000;

/** What `sluice.add_bytes` takes. */
const PAYLOAD_BYTES_MAX = 16 * 1024 * 1024;

interface Source {
  /** Where it has its tables. */
  readonly schema: string;
  /** The table of its jobs. */
  readonly table: string;
  /** Before the first job: of `created_at`, and of the key. */
  readonly begin: readonly [at: string, key: string];
  /** The order of its jobs, the newest first. */
  readonly newestFirst: string;
  /** Which job of its table `job` is a row of `well`. */
  readonly isSame: string;
  /** A batch of jobs that wait or are delayed, behind the place $1, $2. */
  waiting(schema: string): string;
}

/** A time in the future is kept; one in the past means now. */
const runAt = (time: string): string =>
  `CASE WHEN ${time} > now() AND isfinite(${time})
    THEN floor(extract(epoch FROM ${time}) * 1000)::bigint END`;

/** More are meant as "without end", and one such job would keep all from being moved. */
const attempts = (left: string): string => `least(${ATTEMPTS_MAX}, ${left})`;

const SOURCES: Readonly<Record<string, Source>> = {
  "pg-boss": {
    schema: "pgboss",
    table: "job",
    begin: ["-infinity", "00000000-0000-0000-0000-000000000000"],
    newestFirst: "at DESC, key DESC",
    isSame: "job.id = well.key AND job.name = well.source",
    waiting: (schema) => `SELECT id AS key, created_on AS at, name AS source, start_after AS time,
        convert_to(coalesce(data, 'null'::jsonb)::text, 'UTF8') AS payload,
        jsonb_strip_nulls(jsonb_build_object(
          'runAt', ${runAt("start_after")},
          'attempts', ${attempts("greatest(1, retry_limit - retry_count + 1)")},
          'fairnessKey', to_jsonb(job)->>'group_id')) AS options
      FROM ${schema}.job WHERE state IN ('created', 'retry')
        AND (created_on, id) > ($1::timestamptz, $2::uuid)
      ORDER BY created_on, id LIMIT ${BATCH_ROWS} FOR UPDATE SKIP LOCKED`,
  },
  graphile: {
    schema: "graphile_worker",
    table: "_private_jobs",
    begin: ["-infinity", "-1"],
    newestFirst: "key DESC",
    isSame: "job.id = well.key",
    waiting: (schema) => `SELECT job.id AS key, job.created_at AS at, task.identifier AS source,
        job.run_at AS time, convert_to(job.payload::text, 'UTF8') AS payload,
        jsonb_strip_nulls(jsonb_build_object(
          'runAt', ${runAt("job.run_at")},
          'attempts', ${attempts("job.max_attempts - job.attempts")},
          'fairnessKey', (SELECT queue_name FROM ${schema}._private_job_queues q
            WHERE q.id = job.job_queue_id),
          'ordered', CASE WHEN job.job_queue_id IS NOT NULL THEN true END)) AS options
      FROM ${schema}._private_jobs job JOIN ${schema}._private_tasks task ON task.id = job.task_id
      WHERE job.locked_at IS NULL AND job.attempts < job.max_attempts
        AND $1::timestamptz IS NOT NULL AND job.id > $2::bigint
      ORDER BY job.id LIMIT ${BATCH_ROWS} FOR UPDATE OF job SKIP LOCKED`,
  },
};

/** Why a job stays where it is, by what the statement calls it. */
const REASONS: Readonly<Record<string, string>> = {
  name: `its queue must have ${A_NAME}: choose one with --rename`,
  payload: `its payload must have at most ${PAYLOAD_BYTES_MAX} bytes`,
  time: "it waits for an infinite time",
};

/** As the outbox checks: one job that it refuses would keep all others from being moved. */
const REFUSAL = `CASE WHEN queue !~ '^[A-Za-z0-9._:-]{1,255}$' THEN 'name'
  WHEN octet_length(payload) > ${PAYLOAD_BYTES_MAX} THEN 'payload'
  WHEN time > now() AND NOT isfinite(time) THEN 'time' END`;

export const importCommand: Command = {
  name: "import",
  verbs: Object.keys(SOURCES),
  usage: `sluice import pg-boss     moves its jobs that wait, are delayed or will be retried
sluice import graphile    the same for Graphile Worker

Jobs go to the outbox of the same database, in one transaction with their deletion: nothing is lost
or doubled when it is interrupted, and it may be run again. Jobs that run at the moment stay.

A job that Sluice cannot take stays too: the others are moved, it is named, and the exit code is 1.

  --postgres URL         postgres://user:password@host/database (SLUICE_POSTGRES)
  --schema NAME          where the tables are; default pgboss or graphile_worker
  --rename OLD=NEW       gives jobs of the queue or task OLD to the queue NEW; may be repeated`,
  options: {
    postgres: { type: "string" },
    schema: { type: "string" },
    rename: { type: "string", multiple: true },
  },
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
    const names = renamed(textsOf(call, "rename"));
    return withClient(call, (client) => moveAll(call, client, { source, schema, names }));
  },
};

/** The new names by the old ones. A name of Sluice has no equals sign, an old one may have. */
function renamed(texts: readonly string[]): Readonly<Record<string, string>> {
  const pairs = texts.map((text) => {
    const at = text.lastIndexOf("=");
    const name = text.slice(at + 1);
    if (at > 0 && isName(name)) return [text.slice(0, at), name];
    throw new Misuse(`--rename must be OLD=NEW, and NEW ${A_NAME}, got ${JSON.stringify(text)}`);
  });
  return Object.fromEntries(pairs);
}

interface Move {
  readonly source: Source;
  readonly schema: string;
  readonly names: Readonly<Record<string, string>>;
}

/** Jobs of one queue that stay where they are, for one reason. */
interface Left {
  readonly queue: string;
  readonly reason: string;
  readonly jobs: number;
}

async function moveAll(call: Call, client: Client, move: Move): Promise<number> {
  await client.query(WITHOUT_LIMITS);
  const { schema, source } = move;
  await checkSource(client, `${schema}.${source.table}`, `"${schema}".${source.table}`);
  let moved = 0;
  const left = new Map<string, Left>();
  for (let [at, key] = source.begin; ; ) {
    const some = await moveSome(client, move, [at, key]);
    moved += some.moved;
    for (const one of some.left) {
      const name = JSON.stringify([one.queue, one.reason]);
      const jobs = one.jobs + (left.get(name)?.jobs ?? 0);
      left.set(name, { queue: one.queue, reason: REASONS[one.reason]!, jobs });
    }
    if (some.last === null) break;
    ({ at, key } = some.last);
  }
  return report(call, moved, [...left.values()]);
}

function report(call: Call, moved: number, left: readonly Left[]): number {
  const code = tell(call, { moved, left }, () => {
    const jobs = counted(moved, "job was", "jobs were");
    return [
      `${jobs} moved to the outbox: sluice serve --postgres gives them to their queues`,
      ...left.map(({ queue, reason, jobs }) => {
        const stay = counted(jobs, "job stays", "jobs stay");
        return `${stay} in ${JSON.stringify(queue)}: ${reason}`;
      }),
    ].join("\n");
  });
  return left.length === 0 ? code : EXIT.wrong;
}

interface Moved {
  readonly moved: number;
  readonly left: readonly Left[];
  /** The last job that was looked at; null when there was none. */
  readonly last: { readonly at: string; readonly key: string } | null;
}

/** One statement is one transaction: a job is in one of the two places, whatever happens. */
async function moveSome(
  client: Client,
  { source, schema, names }: Move,
  after: readonly string[],
): Promise<Moved> {
  const { rows } = await client.query<Moved>(
    `WITH found AS MATERIALIZED (${source.waiting(`"${schema}"`)}),
      named AS (SELECT *, coalesce($3::jsonb->>source, source) AS queue FROM found),
      checked AS MATERIALIZED (SELECT *, ${REFUSAL} AS refusal FROM named),
      well AS (SELECT * FROM checked WHERE refusal IS NULL),
      taken AS (DELETE FROM "${schema}".${source.table} job USING well WHERE ${source.isSame}
        RETURNING well.*),
      ordered AS (SELECT * FROM taken ORDER BY at, key),
      added AS (SELECT sluice.add_bytes(queue, payload, options) AS id FROM ordered),
      refused AS (SELECT source AS queue, refusal AS reason, count(*)::int AS jobs FROM checked
        WHERE refusal IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2)
    SELECT (SELECT count(id)::int FROM added) AS moved,
      (SELECT coalesce(json_agg(r), '[]') FROM refused r) AS left,
      (SELECT json_build_object('at', at::text, 'key', key::text) FROM found
        ORDER BY ${source.newestFirst} LIMIT 1) AS last`,
    [...after, JSON.stringify(names)],
  );
  return rows[0]!;
}

async function checkSource(client: Client, table: string, quoted: string): Promise<void> {
  const { rows } = await client.query("SELECT to_regclass($1) AS found", [quoted]);
  if (rows[0].found !== null) return;
  const message = `there is no table ${table} in this database: name its place with --schema`;
  throw new SluiceError("NOT_FOUND", message, { table });
}

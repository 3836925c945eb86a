/** The tables and the function of the outbox: jobs that are added in a user's own transaction. */
import { JOB_FIELDS, JOB_OPTIONS } from "@sluice/protocol";
import { OPTIONS_BYTES_MAX, PAYLOAD_BYTES_MAX } from "./limits.ts";

/** Rows of one fairness key are in one shard, and a relay moves the rows of a shard in order. */
export const SHARDS = 16;

/** The channel on which an add wakes a relay that sleeps. */
export const CHANNEL = "sluice_outbox";

/**
 *   1  the outbox
 *   2  the notes of `job.once`
 *   3  ids are not given again after a TRUNCATE
 */
export const OUTBOX_VERSION = 3;

/** All that `sluice postgres install` runs; it may be run again. */
export function outboxSql(): string {
  return `${TABLES}\n${KEEP_IDS}\n${checkFunction()}\n${ADD}`;
}

const TABLES = `-- Jobs that were added in a transaction, until a relay has moved them to Sluice.
CREATE SCHEMA IF NOT EXISTS sluice;

CREATE TABLE IF NOT EXISTS sluice.versions (
  part text PRIMARY KEY,
  version integer NOT NULL
);
INSERT INTO sluice.versions VALUES ('outbox', ${OUTBOX_VERSION})
  ON CONFLICT (part) DO UPDATE SET version = greatest(versions.version, excluded.version);

CREATE TABLE IF NOT EXISTS sluice.outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  shard smallint NOT NULL GENERATED ALWAYS AS
    ((hashtext(coalesce(options->>'fairnessKey', queue)) & 2147483647) % ${SHARDS}) STORED,
  queue text NOT NULL,
  payload bytea NOT NULL,
  options jsonb NOT NULL DEFAULT '{}',
  added_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Why Sluice refuses the job for good. Such a row is kept, and no other waits for it.
  error jsonb
);
CREATE INDEX IF NOT EXISTS outbox_waiting ON sluice.outbox (shard, id) WHERE error IS NULL;

-- The batch of each shard that is on its way: it is numbered here before it is sent, so that after
-- any outage Sluice can say whether it has this number.
CREATE TABLE IF NOT EXISTS sluice.outbox_shards (
  shard smallint PRIMARY KEY,
  number bigint NOT NULL DEFAULT 0,
  batch bigint[] NOT NULL DEFAULT '{}',
  asleep boolean NOT NULL DEFAULT false
);
INSERT INTO sluice.outbox_shards (shard)
  SELECT generate_series(0, ${SHARDS - 1}) ON CONFLICT DO NOTHING;

-- Under this name Sluice remembers the numbers.
CREATE TABLE IF NOT EXISTS sluice.outbox_source (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  name uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO sluice.outbox_source DEFAULT VALUES ON CONFLICT DO NOTHING;

-- Which job a row became; a relay deletes these after a day.
CREATE TABLE IF NOT EXISTS sluice.outbox_moved (
  id bigint PRIMARY KEY,
  job text NOT NULL,
  moved_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX IF NOT EXISTS outbox_moved_at ON sluice.outbox_moved (moved_at);

-- Runs of jobs whose effect in this database is committed; a relay deletes them when the run is
-- over. The log is the one that Sluice holds the job in.
CREATE TABLE IF NOT EXISTS sluice.once (
  log text NOT NULL,
  job text NOT NULL,
  generation integer NOT NULL,
  noted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (log, job, generation)
);
`;

const KEEP_IDS = `-- TRUNCATE with RESTART IDENTITY must not give ids again: a relay deletes the rows that it has moved
-- by their ids, and for a day an id is answered with its job.
CREATE OR REPLACE FUNCTION sluice.keep_ids() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog AS $keep$
DECLARE
  ids regclass := pg_get_serial_sequence('sluice.outbox', 'id');
BEGIN
  IF TG_WHEN = 'BEFORE' THEN
    PERFORM set_config('sluice.last_id', coalesce(pg_sequence_last_value(ids), 0)::text, true);
  ELSE
    PERFORM setval(ids, current_setting('sluice.last_id')::bigint + 1, false);
  END IF;
  RETURN NULL;
END
$keep$;
CREATE OR REPLACE TRIGGER note_ids BEFORE TRUNCATE ON sluice.outbox
  FOR EACH STATEMENT EXECUTE FUNCTION sluice.keep_ids();
CREATE OR REPLACE TRIGGER keep_ids AFTER TRUNCATE ON sluice.outbox
  FOR EACH STATEMENT EXECUTE FUNCTION sluice.keep_ids();
`;

const ADD = `CREATE OR REPLACE FUNCTION sluice.add_bytes(queue text, payload bytea, options jsonb DEFAULT '{}')
RETURNS bigint LANGUAGE plpgsql AS $add$
DECLARE
  added bigint;
  at smallint;
BEGIN
  PERFORM sluice.check_job(queue, payload, options);
  INSERT INTO sluice.outbox (queue, payload, options) VALUES (queue, payload, options)
    RETURNING id, shard INTO added, at;
  -- Commits that notify wait for each other, so only a relay that sleeps is woken.
  IF EXISTS (SELECT FROM sluice.outbox_shards s WHERE s.shard = at AND s.asleep) THEN
    PERFORM pg_notify('${CHANNEL}', at::text);
  END IF;
  RETURN added;
END
$add$;

-- Adds a job in the caller's transaction: it exists if the transaction commits, and only then.
CREATE OR REPLACE FUNCTION sluice.add(queue text, payload json, options jsonb DEFAULT '{}')
RETURNS bigint LANGUAGE sql AS $add$
  SELECT sluice.add_bytes(queue, convert_to(payload::text, 'UTF8'), options)
$add$;
`;

/** The checks of options, by their table. Names of queues are checked as far as a pattern can. */
function checkFunction(): string {
  const known = JOB_FIELDS.map(quoted).join(", ");
  const checks = JOB_FIELDS.map((name) => checkOf(name, JOB_OPTIONS[name].kind)).join("");
  return `CREATE OR REPLACE FUNCTION sluice.check_job(queue text, payload bytea, options jsonb)
RETURNS void LANGUAGE plpgsql IMMUTABLE AS $check$
DECLARE
  field text;
BEGIN
  IF queue IS NULL OR queue !~ '^[A-Za-z0-9._:-]{1,255}$' THEN
    RAISE EXCEPTION 'queue must be a name of letters, digits, . _ : and -, got %', queue
      USING ERRCODE = '22023';
  END IF;
  IF payload IS NULL THEN
    RAISE EXCEPTION 'payload must not be null' USING ERRCODE = '22023';
  END IF;
  IF octet_length(payload) > ${PAYLOAD_BYTES_MAX} THEN
    RAISE EXCEPTION 'payload must have at most ${PAYLOAD_BYTES_MAX} bytes, got %',
      octet_length(payload) USING ERRCODE = '22023';
  END IF;
  IF pg_column_size(options) > ${OPTIONS_BYTES_MAX} THEN
    RAISE EXCEPTION 'options must have at most ${OPTIONS_BYTES_MAX} bytes, got %',
      pg_column_size(options) USING ERRCODE = '22023';
  END IF;
  IF options IS NULL OR jsonb_typeof(options) <> 'object' THEN
    RAISE EXCEPTION 'options must be an object, got %', options USING ERRCODE = '22023';
  END IF;
  SELECT key INTO field FROM jsonb_object_keys(options) AS key
    WHERE key NOT IN (${known}) LIMIT 1;
  IF field IS NOT NULL THEN
    RAISE EXCEPTION 'options.% is not known; known are %', field, ${quoted(JOB_FIELDS.join(", "))}
      USING ERRCODE = '22023';
  END IF;
${checks}END
$check$;
`;
}

function checkOf(name: string, kind: { words: string; schema: object }): string {
  const value = `options->${quoted(name)}`;
  const message = `options.${name} must be ${kind.words}, got `;
  return `  IF options ? ${quoted(name)} AND NOT (${conditionOf(value, kind.schema)}) THEN
    RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = ${quoted(message)} || (${value})::text;
  END IF;
`;
}

/** What SQL can say of a JSON schema; the broker checks the rest when the job arrives. */
function conditionOf(value: string, schema: object): string {
  const { type, anyOf, enum: words } = schema as Schema;
  if (anyOf !== undefined) {
    return anyOf.map((one) => `(${conditionOf(value, one as object)})`).join(" OR ");
  }
  if (words !== undefined) return `${value} IN (${words.map(jsonb).join(", ")})`;
  const types = type === undefined ? [] : [type].flat();
  if (types.length === 0) return "true";
  return types.map((one) => `(${conditionOfType(value, one, schema as Schema)})`).join(" OR ");
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
}

function conditionOfType(value: string, type: string, schema: Schema): string {
  const { minimum, maximum, maxItems } = schema;
  const number = `(${value})::text::numeric`;
  const isOf = (name: string): string => `jsonb_typeof(${value}) = '${name}'`;
  if (type === "array") {
    // In one expression: SQL may evaluate both sides of an AND.
    const length = `CASE WHEN ${isOf("array")} THEN jsonb_array_length(${value}) END`;
    return maxItems === undefined ? isOf("array") : `coalesce(${length} <= ${maxItems}, false)`;
  }
  if (type !== "integer" && type !== "number") return isOf(type);
  const bounds = [
    ...(type === "integer" ? [`${number} = trunc(${number})`] : []),
    ...(minimum === undefined ? [] : [`${number} >= ${minimum}`]),
    ...(maximum === undefined ? [] : [`${number} <= ${maximum}`]),
  ];
  if (bounds.length === 0) return isOf("number");
  return `CASE WHEN ${isOf("number")} THEN ${bounds.join(" AND ")} ELSE false END`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function jsonb(value: unknown): string {
  return `${quoted(JSON.stringify(value))}::jsonb`;
}

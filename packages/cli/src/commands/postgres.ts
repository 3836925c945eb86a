/** The outbox in a PostgreSQL database: jobs that are added in the transactions of its users. */
import { isPassingInPostgres, postgresReason } from "@sluice/log/postgres";
import { needs, SERVER_OPTIONS, SluiceError, variableOf } from "@sluice/protocol";
import type { Client } from "pg";
import { type Call, type Command, EXIT, Misuse, tell, textOf, wordsOf } from "../command.ts";
import { counted } from "../show.ts";

const VERBS = ["install", "status", "retry", "delete"];
const PACKAGES = ["pg"] as const;

export const postgresCommand: Command = {
  name: "postgres",
  verbs: VERBS,
  usage: `sluice postgres install      makes the schema sluice with the outbox; may be run again
sluice postgres install --print    writes the SQL in place of running it
sluice postgres status       rows that wait, and rows that were refused with the reason
sluice postgres retry [ID]   gives refused rows to the relay again; without ID all of them
sluice postgres delete ID    deletes a row

  --postgres URL         postgres://user:password@host/database (SLUICE_POSTGRES)`,
  options: { postgres: { type: "string" }, print: { type: "boolean" } },
  run: async (call) => {
    const [verb = "status", ...rest] = call.words;
    if (!VERBS.includes(verb)) throw new Misuse(`"${verb}" is not one of ${VERBS.join(", ")}`);
    if (verb === "install" && call.values.print === true) return print(call);
    return withClient(call, (client) => ACTS[verb]!(call, client, rest));
  },
};

const ACTS: Readonly<Record<string, Act>> = { install, status, retry, delete: remove };

type Act = (call: Call, client: Client, words: readonly string[]) => Promise<number>;

async function print(call: Call): Promise<number> {
  const { outboxSql } = await import("sluice/postgres");
  call.output.out(outboxSql());
  return EXIT.well;
}

async function install(call: Call, client: Client, words: readonly string[]): Promise<number> {
  wordsOf(words);
  const { installOutbox } = await import("sluice/postgres");
  await installOutbox(client);
  return tell(call, { installed: true }, () => "the outbox is in the schema sluice");
}

async function status(call: Call, client: Client, words: readonly string[]): Promise<number> {
  wordsOf(words);
  const { rows: counts } = await client.query(
    `SELECT count(*) FILTER (WHERE error IS NULL)::int AS waiting,
      count(*) FILTER (WHERE error IS NOT NULL)::int AS refused,
      extract(epoch FROM now() - min(added_at) FILTER (WHERE error IS NULL))::float8 AS seconds
      FROM sluice.outbox`,
  );
  const { rows: refused } = await client.query(
    `SELECT id::text, queue, error->>'code' AS code, error->>'message' AS message
      FROM sluice.outbox WHERE error IS NOT NULL ORDER BY id LIMIT 100`,
  );
  const { waiting, refused: count, seconds } = counts[0];
  const age = waiting === 0 ? "" : `, the oldest for ${Math.round(seconds)} s`;
  return tell(call, { waiting, oldestSeconds: seconds, refused: count, rows: refused }, () =>
    [
      counted(waiting, "row waits", "rows wait") + age,
      `${counted(count, "row was", "rows were")} refused`,
      ...refused.map(({ id, queue, code, message }) => `  ${id}  ${queue}  ${code}: ${message}`),
    ].join("\n"),
  );
}

async function retry(call: Call, client: Client, words: readonly string[]): Promise<number> {
  const [id] = words;
  const text = `UPDATE sluice.outbox SET error = NULL WHERE error IS NOT NULL
    AND ($1::bigint IS NULL OR id = $1::bigint)`;
  const { rowCount } = await client.query(text, [id === undefined ? null : rowId(id)]);
  return tell(
    call,
    { retried: rowCount },
    () => `${counted(rowCount ?? 0, "row waits", "rows wait")} again`,
  );
}

async function remove(call: Call, client: Client, words: readonly string[]): Promise<number> {
  const [id] = wordsOf(words, "ID");
  const text = `DELETE FROM sluice.outbox o WHERE id = $1 AND NOT EXISTS
    (SELECT FROM sluice.outbox_shards s WHERE o.id = ANY(s.batch))`;
  const { rowCount } = await client.query(text, [rowId(id)]);
  if (rowCount === 0) {
    const message = `there is no row ${id} in the outbox, or it is on its way to the broker`;
    throw new SluiceError("NOT_FOUND", message, { id });
  }
  return tell(call, { deleted: id }, () => `row ${id} is deleted`);
}

function rowId(text: string): string {
  if (/^\d{1,18}$/.test(text)) return text;
  throw new Misuse(`ID must be the number of a row, got ${text}`);
}

/** Connects to the database that the call names; its errors are said in words. */
export async function withClient(
  call: Call,
  act: (client: Client) => Promise<number>,
): Promise<number> {
  const url = textOf(call, "postgres") ?? call.env[variableOf("postgres")];
  if (url === undefined || url === "") {
    throw new Misuse(`--postgres URL is missing: ${SERVER_OPTIONS.postgres.text}`);
  }
  const { default: pg } = await needs("sluice postgres", PACKAGES, () => import("pg"));
  const client = new pg.Client({ connectionString: url, application_name: "sluice postgres" });
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

const MISSING = new Set(["42P01", "3F000"]);

function explained(error: unknown): unknown {
  const { code } = error as { code?: string };
  if (error instanceof SluiceError || error instanceof Misuse) return error;
  // A connection that ends has no code.
  if (code === undefined && !isPassingInPostgres(error)) return error;
  if (code !== undefined && MISSING.has(code)) {
    const missing = "this database has no outbox: run `sluice postgres install`";
    return new SluiceError("NOT_FOUND", missing, {}, { cause: error });
  }
  const message = `PostgreSQL does not answer: ${postgresReason(error)}`;
  return new SluiceError("UNAVAILABLE", message, {}, { cause: error });
}

/** The outbox in a PostgreSQL database: jobs that are added in the transactions of its users. */
import { SERVER_OPTIONS, variableOf } from "@sluice/protocol";
import type { Client } from "pg";
import { type Call, type Command, EXIT, Misuse, tell, textOf, wordsOf } from "../command.ts";
import { deleteRow, outboxStatus, retryRows, withDatabase } from "../outbox.ts";
import { counted } from "../show.ts";

const VERBS = ["install", "status", "retry", "delete"];

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
  const found = await outboxStatus(client);
  const { waiting, oldestSeconds, refused, rows } = found;
  const age = oldestSeconds === null ? "" : `, the oldest for ${Math.round(oldestSeconds)} s`;
  return tell(call, { ...found }, () =>
    [
      counted(waiting, "row waits", "rows wait") + age,
      `${counted(refused, "row was", "rows were")} refused`,
      ...rows.map(({ id, queue, code, message }) => `  ${id}  ${queue}  ${code}: ${message}`),
    ].join("\n"),
  );
}

async function retry(call: Call, client: Client, words: readonly string[]): Promise<number> {
  const [id] = words;
  const retried = await retryRows(client, id === undefined ? undefined : rowId(id));
  return tell(call, { retried }, () => `${counted(retried, "row waits", "rows wait")} again`);
}

async function remove(call: Call, client: Client, words: readonly string[]): Promise<number> {
  const [id] = wordsOf(words, "ID");
  await deleteRow(client, rowId(id));
  return tell(call, { deleted: id }, () => `row ${id} is deleted`);
}

function rowId(text: string): string {
  if (/^\d{1,18}$/.test(text)) return text;
  throw new Misuse(`ID must be the number of a row, got ${text}`);
}

/** Connects to the database that the call names. */
export async function withClient(
  call: Call,
  act: (client: Client) => Promise<number>,
): Promise<number> {
  const url = textOf(call, "postgres") ?? call.env[variableOf("postgres")];
  if (url === undefined || url === "") {
    throw new Misuse(`--postgres URL is missing: ${SERVER_OPTIONS.postgres.text}`);
  }
  return withDatabase(url, act);
}

import { SluiceError } from "@sluice/protocol";
import type { ClientBase } from "pg";

/** The version of the tables below. A newer release that changes them raises it and converts. */
const LOG_SCHEMA_VERSION = 1;

/**
 *   logs      one row for each log: `fence` is the position of its owner's fence
 *   entries   the messages of all logs. The primary key is the fence: a position is taken once, so
 *             an owner that another one has followed cannot write any more. `fence` is that of the
 *             owner who wrote the row
 *
 * Entries are not compressed: PostgreSQL would spend more on it than it saves, and payloads are
 * often compressed already.
 */
const TABLES = `
  CREATE SCHEMA IF NOT EXISTS sluice;
  CREATE TABLE IF NOT EXISTS sluice.versions (
    part text PRIMARY KEY,
    version integer NOT NULL
  );
  CREATE TABLE IF NOT EXISTS sluice.logs (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    fence bigint NOT NULL DEFAULT 0
  );
  CREATE TABLE IF NOT EXISTS sluice.entries (
    log integer NOT NULL REFERENCES sluice.logs,
    position bigint NOT NULL,
    fence bigint NOT NULL,
    stored_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    entry bytea NOT NULL,
    PRIMARY KEY (log, position)
  );
  ALTER TABLE sluice.entries ALTER COLUMN entry SET STORAGE EXTERNAL;
  INSERT INTO sluice.versions VALUES ('log', ${LOG_SCHEMA_VERSION}) ON CONFLICT DO NOTHING;
`;

/** Two that install at once would trip over each other's tables. */
export const INSTALL_LOCK = 7_311_070;

/** Makes the tables of logs where they are missing, and refuses those of a newer release. */
export async function ensureLogTables(client: ClientBase): Promise<void> {
  let version = await findVersion(client);
  if (version === undefined) {
    await client.query("BEGIN");
    try {
      await client.query("SELECT pg_advisory_xact_lock($1)", [INSTALL_LOCK]);
      await client.query(TABLES);
      await client.query("COMMIT");
    } catch (error) {
      await client.query("ROLLBACK").catch(() => {});
      throw error;
    }
    version = await findVersion(client);
  }
  if (version === LOG_SCHEMA_VERSION) return;
  throw new SluiceError(
    "LOG_VERSION",
    `the tables of sluice in this database have version ${version}, and this release of Sluice` +
      ` reads version ${LOG_SCHEMA_VERSION}: use the release that made them, or a newer one`,
    { version: version ?? null },
  );
}

async function findVersion(client: ClientBase): Promise<number | undefined> {
  const { rows: tables } = await client.query("SELECT to_regclass('sluice.versions') AS found");
  if (tables[0].found === null) return undefined;
  const { rows } = await client.query("SELECT version FROM sluice.versions WHERE part = 'log'");
  return rows[0]?.version;
}

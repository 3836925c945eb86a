import { SluiceError } from "@sluice/protocol";
import type { ClientBase } from "pg";

/** The class of the advisory locks that owners of logs hold. */
const OWNERS = 7_311_072;

/**
 * A lock of the owner's session. PostgreSQL releases it with the connection, so a process that ends
 * leaves no lock behind. It only keeps a second process from taking over by mistake: what keeps a
 * former owner from writing is the primary key.
 */
export async function lockLog(client: ClientBase, log: number): Promise<boolean> {
  const text = "SELECT pg_try_advisory_lock($1, $2) AS locked";
  return (await client.query(text, [OWNERS, log])).rows[0].locked;
}

/** Why the log cannot be locked: which connection has it. */
export async function lockedBy(
  client: ClientBase,
  log: number,
  name: string,
): Promise<SluiceError> {
  const { rows } = await client.query(
    `SELECT activity.pid, activity.client_addr AS address, activity.backend_start AS since
      FROM pg_locks JOIN pg_stat_activity AS activity USING (pid)
      WHERE locktype = 'advisory' AND classid = $1 AND objid = $2 AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [OWNERS, log],
  );
  const { pid, address, since } = rows[0] ?? {};
  const where = address ? ` from ${address}` : "";
  const owner = pid ? ` (backend ${pid},${where} since ${since?.toISOString()})` : "";
  return new SluiceError(
    "LOG_LOCKED",
    `the log ${name} is in use by another process${owner}: to share it, run \`sluice serve\` and use` +
      " Sluice.connect, or open another log with ?log=NAME",
    { log: name, ...(pid ? { backend: pid } : {}) },
  );
}

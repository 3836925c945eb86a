import { SluiceError } from "@sluice/protocol";
import type { ClientBase } from "pg";
import type { PostgresSettings } from "./options.ts";

/**
 * Refuses a server that would confirm what is not on its disk, and warns of standbys that may take
 * over without the newest commits.
 */
export async function checkDurability(
  client: ClientBase,
  { durability, onWarning, name }: Pick<PostgresSettings, "durability" | "onWarning" | "name">,
): Promise<void> {
  const { rows } = await client.query(
    `SELECT current_setting('fsync') AS fsync,
      current_setting('synchronous_standby_names') AS standbys,
      (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS commit,
      (SELECT count(*)::int FROM pg_stat_replication) AS replicas`,
  );
  const { fsync, commit, standbys, replicas } = rows[0];
  if (durability === "fsync") {
    if (fsync === "off") throw refused(name, "fsync");
    if (commit === "off") throw refused(name, "synchronous_commit");
  }
  if (replicas > 0 && standbys === "") {
    onWarning(
      `the ${replicas} standby servers of this database are asynchronous: jobs that were confirmed` +
        " are lost when one of them takes over. Set synchronous_standby_names",
    );
  }
}

function refused(log: string, setting: string): SluiceError {
  return new SluiceError(
    "INVALID",
    `${setting} is off in this database, so a power loss would take confirmed jobs:` +
      ` turn it on, or open the log with durability "os"`,
    { field: "durability", log, setting },
  );
}

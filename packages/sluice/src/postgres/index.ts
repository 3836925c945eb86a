/** Jobs in a PostgreSQL transaction: the outbox, and the relay that moves it to Sluice. */
import { INSTALL_LOCK } from "@sluice/log/postgres";
import type { ClientBase } from "pg";
import { outboxSql } from "./schema.ts";

export type { Transaction } from "@sluice/client";
export { Outbox, type OutboxJob } from "./outbox.ts";
export { OutboxRelay, type RelayOptions } from "./relay.ts";
export { outboxSql };

/** Makes the tables and functions of the outbox; those that are there are brought up to date. */
export async function installOutbox(client: Pick<ClientBase, "query">): Promise<void> {
  // In one call, so that the lock is held until all of it is committed.
  await client.query(`SELECT pg_advisory_xact_lock(${INSTALL_LOCK});\n${outboxSql()}`);
}

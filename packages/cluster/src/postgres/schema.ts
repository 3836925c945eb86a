/** The tables of the registries of clusters in a database. */
import { SluiceError } from "@sluice/protocol";
import type { DatabaseClient } from "./notices.ts";

const VERSION = 1;

/** The class of the advisory locks of registries. */
const LOCKS = 7_311_075;

/** The channel on which a registry tells of changes; its payload is the name of the cluster. */
export const REGISTRY_CHANNEL = "sluice_registry";

/**
 * A change takes the lock of its cluster until it commits, so revisions grow in the order of the
 * commits: who has read up to one has missed nothing before it. A deleted entry stays for a while
 * without a value.
 */
const TABLES = `
  CREATE SCHEMA IF NOT EXISTS sluice;
  CREATE TABLE IF NOT EXISTS sluice.versions (
    part text PRIMARY KEY,
    version integer NOT NULL
  );
  CREATE SEQUENCE IF NOT EXISTS sluice.registry_revision;
  CREATE TABLE IF NOT EXISTS sluice.registry (
    cluster text NOT NULL,
    key text NOT NULL,
    value text,
    revision bigint NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (cluster, key)
  );
  CREATE INDEX IF NOT EXISTS registry_revisions ON sluice.registry (cluster, revision);

  -- Sets an entry that has this revision, 0: that is not there. Without a value it is deleted.
  -- Answers the new revision; null: the entry has another one.
  CREATE OR REPLACE FUNCTION sluice.registry_set(
    of_cluster text, of_key text, new_value text, last bigint
  ) RETURNS bigint LANGUAGE plpgsql AS $set$
  DECLARE
    found_revision bigint;
    new_revision bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock(${LOCKS}, hashtext(of_cluster));
    SELECT revision INTO found_revision FROM sluice.registry
      WHERE cluster = of_cluster AND key = of_key AND value IS NOT NULL;
    IF coalesce(found_revision, 0) <> last THEN
      RETURN NULL;
    END IF;
    new_revision := nextval('sluice.registry_revision');
    INSERT INTO sluice.registry (cluster, key, value, revision)
      VALUES (of_cluster, of_key, new_value, new_revision)
      ON CONFLICT (cluster, key) DO UPDATE
        SET value = excluded.value, revision = new_revision, changed_at = clock_timestamp();
    PERFORM pg_notify('${REGISTRY_CHANNEL}', of_cluster);
    RETURN new_revision;
  END
  $set$;
  INSERT INTO sluice.versions VALUES ('registry', ${VERSION}) ON CONFLICT DO NOTHING;
`;

/** Two that install at once would trip over each other's tables. */
const INSTALL_LOCK = 7_311_070;

export async function createRegistryTables(client: DatabaseClient): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query("SELECT pg_advisory_xact_lock($1)", [INSTALL_LOCK]);
    await client.query(TABLES);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}

/** Refuses a database without the tables, or with those of another release. */
export async function checkRegistryTables(client: DatabaseClient): Promise<void> {
  const { rows: tables } = await client.query("SELECT to_regclass('sluice.registry') AS found");
  if (tables[0].found === null) {
    throw new SluiceError(
      "NOT_FOUND",
      "there is no registry of a cluster in this database: run `sluice cluster create` once",
    );
  }
  const text = "SELECT version FROM sluice.versions WHERE part = 'registry'";
  const version: number | undefined = (await client.query(text)).rows[0]?.version;
  if (version === VERSION) return;
  const message =
    `the registry in this database has version ${version}, and this release of Sluice reads` +
    ` version ${VERSION}: use the release that made it, or a newer one`;
  throw new SluiceError("LOG_VERSION", message, { version: version ?? null });
}

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { PostgresServer } from "@sluice/log/testing/postgres";
import { type Broker, type NewJob, SluiceError } from "@sluice/protocol";
import pg from "pg";
import { Sluice } from "../index.ts";
import { installOutbox, Outbox, OutboxRelay } from "./index.ts";

type RelayBroker = Pick<Broker, "add" | "lives">;

const MIB = 1024 * 1024;
const LOOK_MS = 5;
const POISON = "666";

let server: PostgresServer;
let pool: pg.Pool;
before(async () => {
  server = await PostgresServer.start();
  pool = new pg.Pool({ connectionString: server.url, max: 4 });
  await installOutbox(pool as never);
});
after(async () => {
  await pool?.end();
  await server?.stop();
});
beforeEach(() => pool.query("DELETE FROM sluice.outbox"));

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

async function waiting(): Promise<number> {
  const text = "SELECT count(*)::int AS n FROM sluice.outbox WHERE error IS NULL";
  return (await pool.query(text)).rows[0].n;
}

async function add(queue: string, payloads: readonly unknown[], fairnessKey?: string) {
  const client = await pool.connect();
  await client.query("BEGIN");
  const outbox = new Outbox(client);
  for (const [i, payload] of payloads.entries()) {
    await outbox.add(queue, payload, { fairnessKey: fairnessKey ?? `key-${i}` });
  }
  await client.query("COMMIT");
  client.release();
}

async function payloadsOf(sluice: Sluice, queue: string): Promise<unknown[]> {
  const { items } = await sluice.broker.jobs(queue, { limit: 1000 });
  const found = await Promise.all(items.map(({ id }) => sluice.job(id).info()));
  return found.map(({ payload }) => payload);
}

function isPoison({ payload }: NewJob): boolean {
  return Buffer.from(payload ?? []).toString() === POISON;
}

const fault = () => new SluiceError("INTERNAL", "a fault of the broker");

/** A broker that has a fault with one of the jobs, as a whole or in its own answer. */
function faulty(broker: Broker, how: "whole" | "row"): RelayBroker {
  return {
    lives: (...args) => broker.lives(...args),
    async add(queue, jobs, options) {
      if (!jobs.some(isPoison)) return broker.add(queue, jobs, options);
      if (how === "whole") throw fault();
      const well = jobs.filter((job) => !isPoison(job));
      const answers = well.length === 0 ? [] : await broker.add(queue, well, options);
      return jobs.map((job) => (isPoison(job) ? { error: fault().toJSON() } : answers.shift()!));
    },
  };
}

for (const how of ["whole", "row"] as const) {
  test(`keeps the one row that meets a fault again and again (${how})`, async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    await sluice.queue("faulty");
    const relay = new OutboxRelay({ url: server.url, broker: faulty(sluice.broker, how) });
    await add("faulty", [1, 2, 666, 3, 4], "one");
    await until(async () => (await waiting()) === 0);
    await add("faulty", [5], "one");
    await until(async () => (await waiting()) === 0);
    await relay.close();
    const { rows } = await pool.query(
      "SELECT convert_from(payload, 'UTF8') AS payload, error->>'code' AS code FROM sluice.outbox",
    );
    assert.deepEqual(rows, [{ payload: POISON, code: "INTERNAL" }]);
    assert.deepEqual(await payloadsOf(sluice, "faulty"), [1, 2, 3, 4, 5]);
  });
}

test("fetches at most 4 MiB in one statement, and each shard in its turn", async () => {
  await using sluice = await Sluice.open({ durability: "memory", payloadBytesMax: 8 * MIB });
  await sluice.queue("large");
  const isHeld = Promise.withResolvers<void>();
  const broker: RelayBroker = {
    lives: (...args) => sluice.broker.lives(...args),
    async add(...args) {
      await isHeld.promise;
      return sluice.broker.add(...args);
    },
  };
  const sizes = [3, 3, 3, 3, 1, 1, 1, 1, 5, 5];
  await add(
    "large",
    sizes.map((size) => Buffer.alloc(size * 1e6)),
  );
  const relay = new OutboxRelay({ url: server.url, broker });
  const numbered = `SELECT sum(octet_length(payload))::int AS bytes, count(*)::int AS rows
    FROM sluice.outbox_shards s JOIN sluice.outbox o ON o.id = ANY(s.batch) GROUP BY s.xmin::text`;
  const shards = (await pool.query("SELECT DISTINCT shard FROM sluice.outbox")).rowCount!;
  const busy = "SELECT FROM sluice.outbox_shards WHERE batch <> '{}'";
  await until(async () => (await pool.query(busy)).rowCount === shards);
  const { rows } = await pool.query(numbered);
  isHeld.resolve();
  await until(async () => (await waiting()) === 0);
  await relay.close();
  for (const { bytes, rows: count } of rows) {
    assert.ok(bytes <= 4 * MIB || count === 1, `${bytes} bytes`);
  }
  assert.equal((await payloadsOf(sluice, "large")).length, sizes.length);
});

test("waits for a lock longer than its role may", async () => {
  await using sluice = await Sluice.open({ durability: "memory" });
  await sluice.queue("hasty");
  await pool.query("CREATE ROLE hasty LOGIN SUPERUSER");
  for (const limit of ["lock_timeout = 100", "statement_timeout = 1000"]) {
    await pool.query(`ALTER ROLE hasty SET ${limit}`);
  }
  const troubles: string[] = [];
  const onTrouble = (reason: string): void => void troubles.push(reason);
  const url = Object.assign(new URL(server.url), { username: "hasty" }).href;
  const relay = new OutboxRelay({ url, broker: sluice.broker, onTrouble });
  const holder = await pool.connect();
  await holder.query("BEGIN");
  await holder.query("SELECT FROM sluice.outbox_shards FOR UPDATE");
  await add("hasty", [1]);
  const waits = `SELECT FROM pg_stat_activity WHERE application_name = 'sluice relay'
    AND wait_event_type = 'Lock' AND query_start < clock_timestamp() - interval '1.2 seconds'`;
  await until(async () => troubles.length > 0 || (await pool.query(waits)).rowCount === 1);
  await holder.query("COMMIT");
  holder.release();
  await until(async () => (await waiting()) === 0);
  await relay.close();
  assert.deepEqual(troubles, []);
});

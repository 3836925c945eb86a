import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { PostgresServer } from "@sluice/log/testing/postgres";
import pg from "pg";
import { Sluice } from "sluice";
import { installOutbox, Outbox, OutboxRelay } from "sluice/postgres";
import { deleteRow } from "./outbox.ts";

const LOOK_MS = 5;

let server: PostgresServer;
let pool: pg.Pool;
before(async () => {
  server = await PostgresServer.start();
  pool = new pg.Pool({ connectionString: server.url, max: 4 });
  pool.on("error", () => {});
  await installOutbox(pool as never);
});
after(async () => {
  await pool?.end();
  await server?.stop();
});
beforeEach(() => pool.query("DELETE FROM sluice.outbox"));

async function client(t: { after(act: () => void): void }): Promise<pg.PoolClient> {
  const own = await pool.connect();
  t.after(() => own.release());
  return own;
}

/** All are in one shard. */
async function add(n: number): Promise<string> {
  const own = await pool.connect();
  const { outboxId } = await new Outbox(own).add("mail", n, { fairnessKey: "one" });
  own.release();
  return outboxId;
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

async function untilWaiting(name: string): Promise<void> {
  const text = `SELECT FROM pg_stat_activity WHERE application_name = $1
    AND wait_event_type = 'Lock'`;
  await until(async () => (await pool.query(text, [name])).rowCount === 1);
}

describe("a delete of a row", () => {
  test("deletes one that was refused, and one that waits", async (t) => {
    const own = await client(t);
    const refused = await add(1);
    await pool.query("UPDATE sluice.outbox SET error = '{}'");
    await deleteRow(own, refused);
    await deleteRow(own, await add(2));
    assert.equal((await pool.query("SELECT FROM sluice.outbox")).rowCount, 0);
    await assert.rejects(deleteRow(own, refused), { code: "NOT_FOUND" });
  });

  test("waits for a relay that takes the row, and leaves it", async (t) => {
    const relay = await client(t);
    const id = await add(1);
    await relay.query("BEGIN");
    const number = `UPDATE sluice.outbox_shards SET number = number + 1, batch = ARRAY[$1::bigint]
      WHERE shard = (SELECT shard FROM sluice.outbox WHERE id = $1)`;
    await relay.query(number, [id]);
    const own = await client(t);
    await own.query("SET application_name = 'deleter'");
    const deleted = assert.rejects(deleteRow(own, id), { code: "NOT_FOUND" });
    await untilWaiting("deleter");
    await relay.query("COMMIT");
    await deleted;
    assert.equal((await pool.query("SELECT FROM sluice.outbox")).rowCount, 1);
    await pool.query("UPDATE sluice.outbox_shards SET batch = '{}'");
  });

  test("keeps a row from a relay that has picked it meanwhile", async (t) => {
    await using sluice = await Sluice.open({ durability: "memory" });
    const mail = await sluice.queue("mail");
    const own = await client(t);
    const id = await add(1);
    await own.query("BEGIN");
    await deleteRow(own, id);
    const relay = new OutboxRelay({ url: server.url, broker: sluice.broker });
    await untilWaiting("sluice relay");
    await own.query("COMMIT");
    await add(2);
    await until(async () => (await pool.query("SELECT FROM sluice.outbox")).rowCount === 0);
    await relay.close();
    const jobs = await Array.fromAsync(mail.jobs());
    assert.equal(jobs.length, 1);
    assert.equal((await sluice.job(jobs[0]!.id).info()).payload, 2);
  });
});

import assert from "node:assert/strict";
import { once as event } from "node:events";
import { after, before, beforeEach, describe, test } from "node:test";
import type { WorkJob } from "@sluice/client";
import { PostgresServer } from "@sluice/log/testing/postgres";
import { sql as drizzleSql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { Kysely, sql as kyselySql, PostgresDialect } from "kysely";
import pg from "pg";
import postgres from "postgres";
import { Sluice } from "../index.ts";
import { installOutbox, OutboxRelay } from "./index.ts";

let server: PostgresServer;
let pool: pg.Pool;
before(async () => {
  server = await PostgresServer.start();
  pool = new pg.Pool({ connectionString: server.url, max: 6 });
  await pool.query("CREATE TABLE paid (job text, run integer)");
  const client = await pool.connect();
  await installOutbox(client);
  client.release();
});
after(async () => {
  await pool?.end();
  await server?.stop();
});
beforeEach(() => pool.query("TRUNCATE paid, sluice.once"));

/** Does what the job is for in a transaction, with `job.once`. */
async function pay(job: WorkJob<unknown>, beforeCommit?: () => Promise<unknown>) {
  const tx = await pool.connect();
  try {
    await tx.query("BEGIN");
    const answer = await job.once(tx, async () => {
      await tx.query("INSERT INTO paid VALUES ($1, 1)", [job.id]);
      return "paid";
    });
    await beforeCommit?.();
    await tx.query("COMMIT");
    return answer;
  } catch (error) {
    await tx.query("ROLLBACK");
    throw error;
  } finally {
    tx.release();
  }
}

async function count(table: string): Promise<number> {
  return (await pool.query(`SELECT count(*)::int AS n FROM ${table}`)).rows[0].n;
}

const PROMPT = { attempts: 5, min: 0, max: 0, jitter: 0 };

describe("job.once", () => {
  test("has effect once over several deliveries, and again after a retry by a person", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    const queue = await sluice.queue("pay", { retry: PROMPT });
    const answers: unknown[] = [];
    queue.work(async (job) => {
      answers.push(await pay(job));
      if (job.attempt < 2) throw new Error("after the commit");
    });
    const job = await queue.add(1);
    await job.finished();
    assert.deepEqual(answers, ["paid", undefined, undefined]);
    assert.equal(await count("paid"), 1);
    await job.retry();
    await job.finished();
    assert.equal(await count("paid"), 2);
  });

  test("runs again when its transaction was rolled back", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    const queue = await sluice.queue("pay", { retry: PROMPT });
    queue.work(async (job) => {
      await pay(job, async () => {
        if (job.attempt === 0) throw new Error("before the commit");
      });
    });
    await (await queue.add(1)).finished();
    assert.equal(await count("paid"), 1);
  });

  test("lets a second holder wait for the first, which then has nothing to do", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    const queue = await sluice.queue("pay", { retry: PROMPT });
    await queue.add(1);
    const take = taking(queue);
    const first = await take();
    const inside = Promise.withResolvers<void>();
    const commit = Promise.withResolvers<void>();
    const paying = pay(first, () => {
      inside.resolve();
      return commit.promise;
    });
    await inside.promise;
    // The lease is lost while the transaction is open.
    await first.nack("too slow");
    const second = await take();
    const again = pay(second);
    await untilBlocked();
    commit.resolve();
    assert.equal(await paying, "paid");
    assert.equal(await again, undefined);
    await second.ack();
    assert.equal(await count("paid"), 1);
  });

  test("stops a holder that comes late, though the note is deleted already", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    const queue = await sluice.queue("pay", { retry: PROMPT });
    await queue.add(1);
    const take = taking(queue);
    const late = await take();
    // It asks for its key, and is then too slow to insert the note.
    const tx = await pool.connect();
    await tx.query("BEGIN");
    const isAsked = Promise.withResolvers<void>();
    const mayInsert = Promise.withResolvers<void>();
    const slow = {
      query: async (text: string, values: unknown[]) => {
        isAsked.resolve();
        await mayInsert.promise;
        return tx.query(text, values);
      },
    };
    const paying = late.once(slow, () => tx.query("INSERT INTO paid VALUES ('late', 1)"));
    await isAsked.promise;
    await sluice.broker.nack([{ lease: leaseOf(late) }]);
    const next = await take();
    await pay(next);
    await next.ack();
    const relay = new OutboxRelay({ url: server.url, broker: sluice.broker });
    while ((await count("sluice.once")) > 0) await new Promise((done) => setTimeout(done, 5));
    mayInsert.resolve();
    await assert.rejects(paying, { code: "ALREADY_FINISHED" });
    await tx.query("ROLLBACK");
    tx.release();
    assert.equal(await count("paid"), 1);
    await relay.close();
  });

  test("works with postgres, Drizzle and Kysely", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    const queue = await sluice.queue<number>("pay", { retry: PROMPT });
    const js = postgres(server.url, { max: 1, onnotice: () => {} });
    const kysely = new Kysely<object>({ dialect: new PostgresDialect({ pool }) });
    queue.work(async (job) => {
      if (job.payload === 0) {
        await js.begin((tx) => job.once(tx, () => tx`INSERT INTO paid VALUES ('js', 1)`));
      } else if (job.payload === 1) {
        await drizzle(pool).transaction((tx) =>
          job.once(tx, () => tx.execute(drizzleSql`INSERT INTO paid VALUES ('drizzle', 1)`)),
        );
      } else {
        await kysely
          .transaction()
          .execute((tx) =>
            job.once(tx, () => kyselySql`INSERT INTO paid VALUES ('kysely', 1)`.execute(tx)),
          );
      }
      if (job.attempt === 0) throw new Error("after the commit");
    });
    for (const n of [0, 1, 2]) await (await queue.add(n)).finished();
    await js.end();
    const { rows } = await pool.query("SELECT job FROM paid ORDER BY job");
    assert.deepEqual(
      rows.map(({ job }) => job),
      ["drizzle", "js", "kysely"],
    );
  });

  test("refuses what is not in a transaction, and leaves no note", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    const queue = await sluice.queue("pay", { retry: { attempts: 1 } });
    const js = postgres(server.url, { max: 1, onnotice: () => {} });
    const kysely = new Kysely<object>({ dialect: new PostgresDialect({ pool }) });
    for (const database of [pool, js, drizzle(pool), kysely]) {
      const refused = Promise.withResolvers<unknown>();
      const worker = queue.work(async (job) => {
        await job.once(database, () => refused.resolve("it ran")).catch(refused.resolve);
      });
      await (await queue.add(1)).finished();
      await worker.close();
      const { code, message } = (await refused.promise) as { code: string; message: string };
      assert.equal(code, "INVALID");
      assert.match(message, /once.tx must be a transaction/);
    }
    await js.end();
    assert.equal(await count("sluice.once"), 0);
  });

  test("says how to install its table where that is missing", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    const queue = await sluice.queue("pay", { retry: { attempts: 1 } });
    await pool.query("ALTER TABLE sluice.once RENAME TO other");
    queue.work((job) => pay(job));
    const job = await queue.add(1);
    await assert.rejects(job.finished(), /sluice postgres install/);
    await pool.query("ALTER TABLE sluice.other RENAME TO once");
  });
});

describe("a relay", () => {
  test("deletes notes of runs that are over, and leaves all others", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    const queue = await sluice.queue("pay", { retry: PROMPT });
    await queue.add(1);
    await queue.add(2);
    const take = taking(queue);
    const [ended, open] = [await take(), await take()];
    await pay(ended);
    await pay(open);
    await pool.query("INSERT INTO sluice.once VALUES ('another log', $1, 0)", [ended.id]);
    await ended.ack();
    const relay = new OutboxRelay({ url: server.url, broker: sluice.broker });
    while ((await count("sluice.once")) > 2) await new Promise((done) => setTimeout(done, 5));
    await open.nack("later");
    const again = await take();
    assert.equal(await pay(again), undefined);
    await again.ack();
    while ((await count("sluice.once")) > 1) await new Promise((done) => setTimeout(done, 5));
    const { rows } = await pool.query("SELECT log FROM sluice.once");
    assert.deepEqual(rows, [{ log: "another log" }]);
    await relay.close();
  });

  test("refuses tables of an older and of a newer release with what to do", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    for (const [version, message] of [
      [1, /version 1, and this release needs 3: run `sluice postgres install`/],
      [4, /version 4.*: use a newer release/],
    ] as const) {
      await pool.query("UPDATE sluice.versions SET version = $1 WHERE part = 'outbox'", [version]);
      const told = new EventTarget();
      const onTrouble = (reason: string): void => {
        told.dispatchEvent(new CustomEvent("trouble", { detail: reason }));
      };
      const relay = new OutboxRelay({ url: server.url, broker: sluice.broker, onTrouble });
      const [trouble] = (await event(told, "trouble")) as [CustomEvent<string>];
      assert.match(trouble.detail, message);
      await relay.close();
    }
    await pool.query("UPDATE sluice.versions SET version = 1 WHERE part = 'outbox'");
    const client = await pool.connect();
    await installOutbox(client);
    client.release();
    const { rows } = await pool.query("SELECT version FROM sluice.versions WHERE part = 'outbox'");
    assert.equal(rows[0].version, 3);
  });
});

/** Jobs as they are delivered; the loop stays open, for leaving it gives its jobs up. */
function taking(queue: Awaited<ReturnType<Sluice["queue"]>>) {
  const jobs = queue.consume({ prefetch: 4 })[Symbol.asyncIterator]();
  return async () => (await jobs.next()).value!;
}

function leaseOf(job: object): string {
  return (job as { lease: string }).lease;
}

/** Until a transaction waits for another one. */
async function untilBlocked(): Promise<void> {
  const text = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
  while ((await pool.query(text)).rowCount === 0) await new Promise((done) => setTimeout(done, 5));
}

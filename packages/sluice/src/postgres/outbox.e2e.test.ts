import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { PostgresServer } from "@sluice/log/testing/postgres";
import { sql as drizzleSql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { drizzle as drizzleJs } from "drizzle-orm/postgres-js";
import { Kysely, sql as kyselySql, PostgresDialect } from "kysely";
import pg from "pg";
import postgres from "postgres";
import { FakeClock, Sluice } from "../index.ts";
import { installOutbox, Outbox, OutboxRelay } from "./index.ts";

let server: PostgresServer;
let pool: pg.Pool;
before(async () => {
  server = await PostgresServer.start();
  pool = new pg.Pool({ connectionString: server.url, max: 4 });
  await pool.query("CREATE TABLE orders (id serial PRIMARY KEY, item text)");
  const client = await pool.connect();
  await installOutbox(client);
  await installOutbox(client);
  client.release();
});
after(async () => {
  await pool?.end();
  await server?.stop();
});

async function inTransaction<T>(act: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const answer = await act(client);
    await client.query("COMMIT");
    return answer;
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
}

async function waiting(): Promise<number> {
  return (await pool.query("SELECT count(*)::int AS n FROM sluice.outbox")).rows[0].n;
}

/** Waits until the outbox has so many rows. */
async function untilLeft(count: number): Promise<void> {
  while ((await waiting()) !== count) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("an add in a transaction", () => {
  test("is there when the transaction commits, and gone when it is rolled back", async () => {
    await inTransaction((tx) => new Outbox(tx).add("mail", { to: "a@b.c" }));
    const failing = inTransaction(async (tx) => {
      await new Outbox(tx).add("mail", { to: "nobody" });
      throw new Error("no");
    });
    await assert.rejects(failing, /no/);
    assert.equal(await waiting(), 1);
    await pool.query("DELETE FROM sluice.outbox");
  });

  test("works with postgres, Drizzle and Kysely", async () => {
    const js = postgres(server.url, { max: 1, onnotice: () => {} });
    await js.begin((tx) => new Outbox(tx).add("mail", 1, { fairnessKey: "acme" }));
    await drizzle(pool).transaction(async (tx) => {
      await tx.execute(drizzleSql`INSERT INTO orders (item) VALUES ('x')`);
      await new Outbox(tx).add("mail", 2, { weight: 2 });
    });
    await drizzleJs(js).transaction((tx) => new Outbox(tx).add("mail", 3));
    const kysely = new Kysely<object>({ dialect: new PostgresDialect({ pool }) });
    await kysely.transaction().execute(async (tx) => {
      await kyselySql`INSERT INTO orders (item) VALUES ('y')`.execute(tx);
      await new Outbox(tx).add("mail", 4, { gates: ["smtp"] });
    });
    await js.end();
    const { rows } = await pool.query(
      "SELECT convert_from(payload, 'UTF8') AS payload, options FROM sluice.outbox ORDER BY id",
    );
    assert.deepEqual(rows, [
      { payload: "1", options: { fairnessKey: "acme" } },
      { payload: "2", options: { weight: 2 } },
      { payload: "3", options: {} },
      { payload: "4", options: { gates: ["smtp"] } },
    ]);
    await pool.query("DELETE FROM sluice.outbox");
  });

  test("works in plain SQL, which refuses what the library would refuse", async () => {
    await pool.query(`SELECT sluice.add('mail', '{"to": "a@b.c"}', '{"delay": "5m"}')`);
    for (const [options, message] of [
      ['{"weight": 0}', /options.weight must be .*got 0/],
      ['{"weight": "heavy"}', /options.weight must be .*got "heavy"/],
      ['{"wieght": 1}', /options.wieght is not known; known are fairnessKey/],
      ['{"gates": "smtp"}', /options.gates must be/],
      ['{"ordered": 1}', /options.ordered must be/],
      ["[]", /options must be an object/],
    ] as const) {
      const adding = pool.query("SELECT sluice.add('mail', '1', $1)", [options]);
      await assert.rejects(adding, { code: "22023", message });
    }
    await assert.rejects(pool.query("SELECT sluice.add('no space', '1')"), /queue must be/);
    const large = "SELECT sluice.add_bytes('mail', convert_to(repeat('x', 16777217), 'UTF8'))";
    await assert.rejects(
      pool.query(large),
      /payload must have at most 16777216 bytes, got 16777217/,
    );
    const wide =
      "SELECT sluice.add('mail', '1', jsonb_build_object('group', repeat('x', 1048576)))";
    await assert.rejects(pool.query(wide), /options must have at most 1048576 bytes/);
    await pool.query("DELETE FROM sluice.outbox");
  });

  test("takes options in every form that an add to a queue takes", async () => {
    const options = {
      runAt: new Date(5),
      deadline: new Date(7),
      lease: "5m",
      after: ["a1", { id: "a2", name: "a handle" }],
      dedupe: { key: "x", mode: "window", window: "1m" },
      weight: undefined,
    } as const;
    await inTransaction((tx) => new Outbox(tx).add("mail", 1, options));
    const { rows } = await pool.query("SELECT options FROM sluice.outbox");
    assert.deepEqual(rows[0].options, {
      runAt: 5,
      deadline: 7,
      lease: 300_000,
      after: [{ id: "a1" }, { id: "a2" }],
      dedupe: { key: "x", mode: "window", window: 60_000 },
    });
    await pool.query("DELETE FROM sluice.outbox");
  });

  test("refuses texts in options that PostgreSQL cannot store", async () => {
    for (const fairnessKey of ["a\0", "a\ud800"]) {
      const adding = inTransaction((tx) => new Outbox(tx).add("mail", 1, { fairnessKey }));
      await assert.rejects(adding, { code: "INVALID", message: /^options must have no text/ });
    }
  });

  test("refuses options by their field before it asks the database", async () => {
    const adding = inTransaction((tx) => new Outbox(tx).add("mail", 1, { delay: "soon" as never }));
    await assert.rejects(adding, { code: "INVALID", message: /delay/ });
    const heavy = inTransaction((tx) => new Outbox(tx).add("mail", 1, { weight: 0 }));
    await assert.rejects(heavy, { code: "INVALID", message: /weight must be/ });
    assert.throws(() => new Outbox(undefined as never), { code: "INVALID" });
  });

  test("needs few rights, and says which when they are missing", async () => {
    await pool.query("CREATE ROLE seller LOGIN");
    const seller = new pg.Client({
      connectionString: Object.assign(new URL(server.url), { username: "seller" }).href,
    });
    await seller.connect();
    const message = /lacks rights in the schema sluice: grant USAGE on it, SELECT and INSERT/;
    await assert.rejects(new Outbox(seller).add("mail", 1), { code: "FORBIDDEN", message });
    await pool.query("GRANT USAGE ON SCHEMA sluice TO seller");
    await pool.query("GRANT SELECT, INSERT ON sluice.outbox, sluice.once TO seller");
    await pool.query("GRANT SELECT ON sluice.outbox_shards, sluice.outbox_moved TO seller");
    const { outboxId } = await new Outbox(seller).add("mail", 1);
    assert.equal(await new Outbox(seller).jobOf(outboxId), undefined);
    await seller.end();
    await pool.query("DELETE FROM sluice.outbox");
  });

  test("gets no id that was there before a TRUNCATE with RESTART IDENTITY", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    await sluice.queue("truncated");
    const isTaken = Promise.withResolvers<void>();
    const isTruncated = Promise.withResolvers<void>();
    const broker: Pick<typeof sluice.broker, "add" | "lives"> = {
      lives: (...args) => sluice.broker.lives(...args),
      async add(...args) {
        const answers = await sluice.broker.add(...args);
        isTaken.resolve();
        await isTruncated.promise;
        return answers;
      },
    };
    const options = { fairnessKey: "one" };
    await pool.query("TRUNCATE sluice.outbox RESTART IDENTITY");
    await pool.query("SELECT setval('sluice.outbox_id_seq', 5000)");
    const relay = new OutboxRelay({ url: server.url, broker });
    const before = await inTransaction((tx) => new Outbox(tx).add("truncated", 1, options));
    await isTaken.promise;
    await pool.query("TRUNCATE sluice.outbox RESTART IDENTITY");
    const after = await inTransaction((tx) => new Outbox(tx).add("truncated", 2, options));
    assert.ok(Number(after.outboxId) > Number(before.outboxId), after.outboxId);
    isTruncated.resolve();
    await untilLeft(0);
    await relay.close();
    const client = await pool.connect();
    const jobs = [];
    for (const { outboxId } of [before, after]) jobs.push(await new Outbox(client).jobOf(outboxId));
    client.release();
    const found = await Promise.all(jobs.map((id) => sluice.job(id!).info()));
    assert.deepEqual(
      found.map(({ payload }) => payload),
      [1, 2],
    );
  });

  test("is installed by several processes at once", async () => {
    await pool.query("CREATE DATABASE crowd");
    const url = Object.assign(new URL(server.url), { pathname: "/crowd" }).href;
    const crowd = new pg.Pool({ connectionString: url, max: 4 });
    for (let round = 0; round < 5; round++) {
      await Promise.all([1, 2, 3, 4].map(() => installOutbox(crowd as never)));
    }
    await crowd.end();
  });

  test("says how to install the outbox where it is missing", async () => {
    await pool.query("CREATE DATABASE bare");
    const bare = new pg.Client({
      connectionString: Object.assign(new URL(server.url), { pathname: "/bare" }).href,
    });
    await bare.connect();
    await assert.rejects(new Outbox(bare).add("mail", 1), { message: /sluice postgres install/ });
    await bare.end();
  });
});

describe("a relay", () => {
  test("moves what is committed, in order, and tells which job it became", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    const mail = await sluice.queue<number>("mail");
    const relay = new OutboxRelay({ url: server.url, broker: sluice.broker });
    const added = await inTransaction(async (tx) => {
      const outbox = new Outbox(tx);
      const jobs = [];
      for (let i = 0; i < 50; i++) jobs.push(await outbox.add("mail", i, { fairnessKey: "acme" }));
      return jobs;
    });
    await untilLeft(0);
    const seen: number[] = [];
    for await (const job of mail.consume()) {
      seen.push(job.payload);
      await job.ack();
      if (seen.length === 50) break;
    }
    assert.deepEqual(
      seen,
      [...seen].sort((a, b) => a - b),
    );
    const client = await pool.connect();
    const id = await new Outbox(client).jobOf(added[7]!.outboxId);
    client.release();
    assert.equal((await sluice.job(id!).info()).payload, 7);
    await relay.close();
  });

  test("sends a batch again under its number, and the broker takes it once", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    const mail = await sluice.queue<number>("again");
    // Its answer is lost, after the broker has taken the jobs.
    let isLost = false;
    const broker: Pick<typeof sluice.broker, "add" | "lives"> = {
      lives: (...args) => sluice.broker.lives(...args),
      async add(...args) {
        const answer = await sluice.broker.add(...args);
        if (isLost) return answer;
        isLost = true;
        throw new Error("the connection was lost");
      },
    };
    const troubles: string[] = [];
    const onTrouble = (reason: string): void => void troubles.push(reason);
    const relay = new OutboxRelay({ url: server.url, broker, onTrouble });
    await inTransaction((tx) => new Outbox(tx).add("again", 1));
    await untilLeft(0);
    assert.equal((await mail.stats()).waiting, 1);
    assert.match(troubles[0]!, /not moved: the connection was lost/);
    await relay.close();
  });

  test("is killed before its delete: 50,000 jobs and 20 minutes later still one job", async () => {
    const clock = new FakeClock();
    await using sluice = await Sluice.open({ durability: "memory", clock });
    const late = await sluice.queue<number>("late");
    await sluice.queue("others");
    const isConfirmed = Promise.withResolvers<void>();
    const killed = {
      lives: (...args: Parameters<typeof sluice.broker.lives>) => sluice.broker.lives(...args),
      add: async (...args: Parameters<typeof sluice.broker.add>) => {
        await sluice.broker.add(...args);
        isConfirmed.resolve();
        return new Promise<never>(() => {});
      },
    };
    new OutboxRelay({ url: server.url, broker: killed });
    await inTransaction((tx) => new Outbox(tx).add("late", 1));
    await isConfirmed.promise;
    await pool.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sluice relay'",
    );
    const payload = Buffer.from("1");
    for (let i = 0; i < 5; i++) {
      await sluice.broker.add(
        "others",
        Array.from({ length: 10_000 }, () => ({ payload })),
      );
    }
    await clock.advance("20m");
    assert.equal(await waiting(), 1);
    const relay = new OutboxRelay({ url: server.url, broker: sluice.broker });
    await untilLeft(0);
    assert.equal((await late.stats()).added, 1);
    await relay.close();
  });

  test("keeps a row that is refused for good with its error, and moves the others", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    await sluice.queue("there");
    const relay = new OutboxRelay({ url: server.url, broker: sluice.broker });
    await inTransaction(async (tx) => {
      await new Outbox(tx).add("missing", 1);
      await new Outbox(tx).add("there", 2);
      await new Outbox(tx).add("there", 3, { priority: 99 });
    });
    await untilLeft(2);
    const { rows } = await pool.query("SELECT queue, error FROM sluice.outbox ORDER BY id");
    assert.deepEqual(
      rows.map(({ queue, error }) => [queue, error.code]),
      [
        ["missing", "QUEUE_NOT_FOUND"],
        ["there", "INVALID"],
      ],
    );
    await relay.close();
    await pool.query("DELETE FROM sluice.outbox");
  });

  test("waits for a full queue, and moves the rest when there is room", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    const mail = await sluice.queue<number>("full", { capacity: { jobs: 2 } });
    const relay = new OutboxRelay({ url: server.url, broker: sluice.broker });
    await inTransaction(async (tx) => {
      for (let i = 0; i < 5; i++) await new Outbox(tx).add("full", i);
    });
    await untilLeft(3);
    mail.work(() => {});
    await untilLeft(0);
    await relay.close();
  });

  test("shares the shards with another relay, and takes over when that one ends", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    const mail = await sluice.queue<number>("shared");
    const relays = [1, 2].map(() => new OutboxRelay({ url: server.url, broker: sluice.broker }));
    const add = (count: number) =>
      inTransaction(async (tx) => {
        for (let i = 0; i < count; i++)
          await new Outbox(tx).add("shared", i, { fairnessKey: `k${i}` });
      });
    await add(100);
    await untilLeft(0);
    await relays[0]!.close();
    await add(100);
    await untilLeft(0);
    assert.equal((await mail.stats()).waiting, 200);
    await relays[1]!.close();
  });
});

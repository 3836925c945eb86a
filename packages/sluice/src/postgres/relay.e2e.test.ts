import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { PostgresServer } from "@sluice/log/testing/postgres";
import { type Broker, SluiceError } from "@sluice/protocol";
import pg from "pg";
import { Sluice } from "../index.ts";
import { installOutbox, Outbox, OutboxRelay } from "./index.ts";

type RelayBroker = Pick<Broker, "add" | "lives">;

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

const LOOK_MS = 5;
async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

async function left(): Promise<number> {
  return (await pool.query("SELECT count(*)::int AS n FROM sluice.outbox")).rows[0].n;
}

/** One transaction, with keys that are in as many shards as there are. */
async function add(queue: string, payloads: readonly number[]): Promise<void> {
  const client = await pool.connect();
  await client.query("BEGIN");
  const outbox = new Outbox(client);
  for (const n of payloads) await outbox.add(queue, n, { fairnessKey: `key-${n}` });
  await client.query("COMMIT");
  client.release();
}

async function numbers(sluice: Sluice, queue: string): Promise<number[]> {
  const { items } = await sluice.broker.jobs(queue, { limit: 1000 });
  const found = await Promise.all(items.map(({ id }) => sluice.job(id).info()));
  return found.map(({ payload }) => Number(payload)).sort((a, b) => a - b);
}

describe("a relay", () => {
  for (const code of [
    "DISCONNECTED",
    "TIMEOUT",
    "UNAVAILABLE",
    "INTERNAL",
    "LOG_FAILED",
  ] as const) {
    test(`sends a batch again under its number when a part of it is answered ${code}`, async () => {
      await using sluice = await Sluice.open({ durability: "memory" });
      await sluice.queue("parts");
      // As a cluster answers when the answer of one partition is lost, and the others' are not.
      let lost = 0;
      const broker: RelayBroker = {
        lives: (...args) => sluice.broker.lives(...args),
        async add(...args) {
          const answers = await sluice.broker.add(...args);
          if (lost++ >= 5) return answers;
          const error = new SluiceError(code, "partition 3 has not answered").toJSON();
          return answers.map((answer, i) => (i % 2 === 0 ? { error } : answer));
        },
      };
      await add("parts", [1, 2, 3, 4, 5, 6, 7, 8]);
      const relay = new OutboxRelay({ url: server.url, broker });
      await until(async () => (await left()) === 0);
      assert.deepEqual(await numbers(sluice, "parts"), [1, 2, 3, 4, 5, 6, 7, 8]);
      await relay.close();
    });
  }

  for (const back of [1, 2]) {
    test(`moves the rows of a database that was restored to ${back} numbers ago`, async () => {
      await using sluice = await Sluice.open({ durability: "memory" });
      await sluice.queue("restored");
      const relay = new OutboxRelay({ url: server.url, broker: sluice.broker });
      for (let n = 1; n <= 3; n++) {
        const client = await pool.connect();
        await new Outbox(client).add("restored", n, { fairnessKey: "one" });
        client.release();
        await until(async () => (await left()) === 0);
      }
      await pool.query("UPDATE sluice.outbox_shards SET number = number - $1 WHERE number > 0", [
        back,
      ]);
      const client = await pool.connect();
      await new Outbox(client).add("restored", 4, { fairnessKey: "one" });
      client.release();
      await until(async () => (await left()) === 0);
      assert.deepEqual(await numbers(sluice, "restored"), [1, 2, 3, 4]);
      await relay.close();
    });
  }

  test("numbers the batches of all shards with one commit", async () => {
    const isHeld = Promise.withResolvers<void>();
    await using sluice = await Sluice.open({ durability: "memory" });
    await sluice.queue("many");
    const broker: RelayBroker = {
      lives: (...args) => sluice.broker.lives(...args),
      async add(...args) {
        await isHeld.promise;
        return sluice.broker.add(...args);
      },
    };
    await add(
      "many",
      Array.from({ length: 64 }, (_, i) => i),
    );
    const relay = new OutboxRelay({ url: server.url, broker });
    const numbered = `SELECT count(*)::int AS shards, count(DISTINCT xmin::text)::int AS commits,
      sum(cardinality(batch))::int AS rows FROM sluice.outbox_shards WHERE batch <> '{}'`;
    await until(async () => (await pool.query(numbered)).rows[0].rows === 64);
    const { shards, commits } = (await pool.query(numbered)).rows[0];
    isHeld.resolve();
    await until(async () => (await left()) === 0);
    await relay.close();
    assert.ok(shards > 10, `${shards} shards`);
    assert.equal(commits, 1);
  });

  test("sends at most 4 MiB of payloads at once, and a larger one alone", async () => {
    const MIB = 1024 * 1024;
    await using sluice = await Sluice.open({ durability: "memory", payloadBytesMax: 8 * MIB });
    await sluice.queue("large");
    const sent: number[][] = [];
    const broker: RelayBroker = {
      lives: (...args) => sluice.broker.lives(...args),
      add(queue, jobs, ...rest) {
        sent.push(jobs.map(({ payload = [] }) => payload.length));
        return sluice.broker.add(queue, jobs, ...rest);
      },
    };
    const client = await pool.connect();
    await client.query("BEGIN");
    for (const size of [5, 1, 2, 1, 1, 4]) {
      await new Outbox(client).add("large", Buffer.alloc(size * MIB), { fairnessKey: "one" });
    }
    await client.query("COMMIT");
    client.release();
    const relay = new OutboxRelay({ url: server.url, broker });
    await until(async () => (await left()) === 0);
    await relay.close();
    assert.deepEqual(sent, [[5 * MIB], [MIB, 2 * MIB, MIB], [MIB], [4 * MIB]]);
  });

  test("counts large options too, and does not read a payload that no broker takes", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    await sluice.queue("wide");
    const job = await sluice.queue("first").then((first) => first.add(0));
    const sent: number[] = [];
    const broker: RelayBroker = {
      lives: (...args) => sluice.broker.lives(...args),
      add(queue, jobs, ...rest) {
        sent.push(jobs.length);
        return sluice.broker.add(queue, jobs, ...rest);
      },
    };
    await pool.query(
      `INSERT INTO sluice.outbox (queue, payload, options) SELECT 'wide', '1', $1
        FROM generate_series(1, 250)`,
      [{ after: Array.from({ length: 1000 }, () => job.id) }],
    );
    await pool.query(
      `INSERT INTO sluice.outbox (queue, payload)
        VALUES ('wide', convert_to(repeat('x', 16777217), 'UTF8')), ('wide', '2')`,
    );
    const relay = new OutboxRelay({ url: server.url, broker });
    await until(async () => (await left()) === 1 && sent.length > 0);
    await relay.close();
    assert.ok(Math.max(...sent) < 125, `batches of ${sent.join(", ")}`);
    const { rows } = await pool.query("SELECT error FROM sluice.outbox");
    const message = "payload must have at most 16777216 bytes";
    assert.deepEqual(rows[0].error, {
      ...{ code: "PAYLOAD_TOO_LARGE", message },
      details: { field: "payload" },
    });
  });

  test("moves all other shards while the broker does not answer one", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    await sluice.queue("slow");
    await sluice.queue("quick");
    const ended: unknown[] = [];
    const broker: RelayBroker = {
      lives: (...args) => sluice.broker.lives(...args),
      add(queue, jobs, options = {}) {
        if (queue === "quick") return sluice.broker.add(queue, jobs, options);
        return new Promise((_, reject) => {
          options.signal?.addEventListener("abort", () => {
            ended.push(queue);
            reject(new SluiceError("ABORTED", "given up"));
          });
        });
      },
    };
    const relay = new OutboxRelay({ url: server.url, broker });
    await add("slow", [1]);
    await add(
      "quick",
      Array.from({ length: 64 }, (_, i) => i),
    );
    const { rows } = await pool.query("SELECT shard FROM sluice.outbox WHERE queue = 'slow'");
    const behind = "SELECT FROM sluice.outbox WHERE queue = 'quick' AND shard <> $1";
    await until(async () => (await pool.query(behind, [rows[0].shard])).rowCount === 0);
    await relay.close();
    assert.deepEqual(ended, ["slow"]);
  });

  test("moves all other shards while the broker refuses one for the moment", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    await sluice.queue("away");
    await sluice.queue("there");
    let isAway = true;
    const broker: RelayBroker = {
      lives: (...args) => sluice.broker.lives(...args),
      async add(queue, ...rest) {
        if (queue !== "away" || !isAway) return sluice.broker.add(queue, ...rest);
        throw new SluiceError("UNAVAILABLE", "no node owns partition 3");
      },
    };
    const troubles: string[] = [];
    const onTrouble = (reason: string): void => void troubles.push(reason);
    const relay = new OutboxRelay({ url: server.url, broker, onTrouble });
    await add("away", [1]);
    await until(() => troubles.length > 0);
    await add(
      "there",
      Array.from({ length: 64 }, (_, i) => i),
    );
    const { rows } = await pool.query("SELECT shard FROM sluice.outbox WHERE queue = 'away'");
    const behind = "SELECT FROM sluice.outbox WHERE queue = 'there' AND shard <> $1";
    await until(async () => (await pool.query(behind, [rows[0].shard])).rowCount === 0);
    isAway = false;
    await until(async () => (await left()) === 0);
    assert.deepEqual(troubles, ["the outbox of PostgreSQL is not moved: no node owns partition 3"]);
    await relay.close();
  });

  test("moves all shards beside a relay of another database of the same server", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    await sluice.queue("neighbours");
    await pool.query("CREATE DATABASE neighbour");
    const url = Object.assign(new URL(server.url), { pathname: "/neighbour" }).href;
    const neighbour = new pg.Client({ connectionString: url });
    await neighbour.connect();
    await installOutbox(neighbour);
    const relays = [url, server.url].map((at) => {
      return new OutboxRelay({ url: at, broker: sluice.broker });
    });
    const isThere = `SELECT FROM pg_stat_activity
      WHERE application_name = 'sluice relay' AND query LIKE '%outbox_shards%'`;
    await until(async () => (await pool.query(isThere)).rowCount === 2);
    await add(
      "neighbours",
      Array.from({ length: 64 }, (_, i) => i),
    );
    await until(async () => (await left()) === 0);
    for (const relay of relays) await relay.close();
    await neighbour.end();
  });

  test("moves rows in an application that reads bigint and jsonb in its own way", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    await sluice.queue("typed");
    const { INT8, JSONB } = pg.types.builtins;
    const before = [INT8, JSONB].map((type) => [type, pg.types.getTypeParser(type)] as const);
    const troubles: string[] = [];
    const onTrouble = (reason: string): void => void troubles.push(reason);
    const relay = new OutboxRelay({ url: server.url, broker: sluice.broker, onTrouble });
    try {
      pg.types.setTypeParser(INT8, BigInt);
      pg.types.setTypeParser(JSONB, (text) => text);
      await add("typed", [1, 2]);
      await until(async () => troubles.length > 0 || (await left()) === 0);
      assert.deepEqual(troubles, []);
      assert.deepEqual(await numbers(sluice, "typed"), [1, 2]);
    } finally {
      for (const [type, parser] of before) pg.types.setTypeParser(type, parser);
      await relay.close();
    }
  });

  test("keeps a row that is refused with a text that PostgreSQL cannot store", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    const message = "no \0 and no \ud800";
    const error = new SluiceError("FORBIDDEN", message, { value: message }).toJSON();
    const broker: RelayBroker = {
      lives: (...args) => sluice.broker.lives(...args),
      add: async (_, jobs) => jobs.map(() => ({ error })),
    };
    const troubles: string[] = [];
    const onTrouble = (reason: string): void => void troubles.push(reason);
    const relay = new OutboxRelay({ url: server.url, broker, onTrouble });
    await add("refused", [1]);
    const refused = "SELECT error FROM sluice.outbox WHERE error IS NOT NULL";
    await until(async () => troubles.length > 0 || (await pool.query(refused)).rowCount === 1);
    assert.deepEqual(troubles, []);
    const { rows } = await pool.query(refused);
    const kept = "no \ufffd and no \ufffd";
    const stored = { code: "FORBIDDEN", message: kept, details: { value: kept } };
    assert.deepEqual(rows[0].error, stored);
    await relay.close();
  });

  test("writes nothing to the database while it sleeps", async () => {
    await using sluice = await Sluice.open({ durability: "memory" });
    const relay = new OutboxRelay({ url: server.url, broker: sluice.broker });
    const isAsleep = "SELECT FROM sluice.outbox_shards WHERE NOT asleep";
    await until(async () => (await pool.query(isAsleep)).rowCount === 0);
    const written = "SELECT string_agg(xmin::text, ' ' ORDER BY shard) FROM sluice.outbox_shards";
    const before = (await pool.query(written)).rows;
    const polls = `SELECT state_change AS at FROM pg_stat_activity
      WHERE application_name = 'sluice relay'`;
    const first = (await pool.query(polls)).rows[0].at.getTime();
    await until(async () => (await pool.query(polls)).rows[0].at.getTime() > first + 1500);
    const after = (await pool.query(written)).rows;
    await relay.close();
    assert.deepEqual(after, before);
  });
});

test("a crash does not take back a number where commits do not wait for the disk", async () => {
  // Nothing reaches the disk by itself for 10 seconds.
  const lazy = await PostgresServer.start({ synchronous_commit: "off", wal_writer_delay: "10s" });
  try {
    await using sluice = await Sluice.open({ durability: "memory" });
    await sluice.queue("lazy");
    const insert = async (payload: number): Promise<void> => {
      const client = new pg.Client({ connectionString: lazy.url });
      await client.connect();
      await client.query("SET synchronous_commit = on");
      if (payload === 1) await installOutbox(client);
      await new Outbox(client).add("lazy", payload, { fairnessKey: "one" });
      await client.end();
    };
    const isTaken = Promise.withResolvers<void>();
    const broker: RelayBroker = {
      lives: (...args) => sluice.broker.lives(...args),
      async add(...args) {
        const answers = await sluice.broker.add(...args);
        isTaken.resolve();
        // The database is killed before the relay settles the batch.
        await killed.promise;
        return answers;
      },
    };
    const killed = Promise.withResolvers<void>();
    await insert(1);
    const relay = new OutboxRelay({ url: lazy.url, broker });
    await isTaken.promise;
    await lazy.end("SIGKILL");
    killed.resolve();
    await relay.close();
    await lazy.restart();
    await insert(2);
    const next = new OutboxRelay({ url: lazy.url, broker: sluice.broker });
    await until(async () => (await numbers(sluice, "lazy")).includes(2));
    await next.close();
    assert.deepEqual(await numbers(sluice, "lazy"), [1, 2]);
  } finally {
    await lazy.stop();
  }
});

/** What the relay says of a database, as the first reason. */
async function troubleAt(url: string): Promise<string> {
  await using sluice = await Sluice.open({ durability: "memory" });
  const said = Promise.withResolvers<string>();
  const relay = new OutboxRelay({ url, broker: sluice.broker, onTrouble: said.resolve });
  const reason = await said.promise;
  await relay.close();
  return reason.replace("the outbox of PostgreSQL is not moved: ", "");
}

describe("a relay says in one sentence", () => {
  const at = (change: Partial<URL>): string => Object.assign(new URL(server.url), change).href;
  const cases: [string, () => Promise<string>, RegExp][] = [
    [
      "that no server is there",
      async () => "postgres://sluice@127.0.0.1:1/postgres",
      /^no PostgreSQL server accepts connections at this address$/,
    ],
    [
      "that the database does not exist",
      async () => at({ pathname: "/none" }),
      /^the database does not exist; create it first$/,
    ],
    [
      "that the outbox is missing",
      async () => {
        await pool.query("CREATE DATABASE empty");
        return at({ pathname: "/empty" });
      },
      /^this database has no outbox: run `sluice postgres install`$/,
    ],
    ...["outbox_shards", "outbox_source"].map((table): [string, () => Promise<string>, RegExp] => [
      `that ${table} was emptied`,
      async () => {
        await pool.query(`CREATE DATABASE without_${table}`);
        const url = at({ pathname: `/without_${table}` });
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        await installOutbox(client);
        await client.query(`TRUNCATE sluice.${table}`);
        await client.end();
        return url;
      },
      /^the outbox in this database lacks rows of its own: run `sluice postgres install`$/,
    ]),
    [
      "that rights are missing",
      async () => {
        await pool.query("CREATE ROLE stranger LOGIN");
        return at({ username: "stranger" });
      },
      /^this user lacks rights/,
    ],
    [
      "that no connection is left",
      async () => {
        await pool.query("CREATE ROLE tight LOGIN CONNECTION LIMIT 0");
        return at({ username: "tight" });
      },
      /^the database has no connections left/,
    ],
    [
      "that the password is wrong",
      async () => {
        await server.askPassword("secretive", "right");
        return at({ username: "secretive", password: "wrong" });
      },
      /^the password is wrong for this user$/,
    ],
    [
      "that the database is read-only",
      async () => {
        await add("mail", [1]);
        await pool.query("CREATE ROLE reader LOGIN SUPERUSER");
        await pool.query("ALTER ROLE reader SET default_transaction_read_only = on");
        return at({ username: "reader" });
      },
      /^the database is read-only, perhaps a standby after a failover$/,
    ],
  ];
  for (const [what, place, sentence] of cases) {
    test(what, async () => assert.match(await troubleAt(await place()), sentence));
  }
});

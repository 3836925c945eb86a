import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import type { Position } from "../log.ts";
import { AppendLoad, checkReplay, numbered } from "../testing/load.ts";
import { PostgresServer } from "../testing/postgres-server.ts";
import type { PostgresLogOptions } from "./options.ts";
import { PostgresLog } from "./postgres-log.ts";

let logs = 0;
const newName = (): string => `faults-${++logs}`;

async function opened(options: PostgresLogOptions): Promise<PostgresLog> {
  const log = await PostgresLog.open({ exclusive: false, ...options });
  for await (const _ of log.replay());
  return log;
}

async function query(url: string, text: string, values: unknown[] = []): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

describe("a log in PostgreSQL", () => {
  let server: PostgresServer;
  let url: string;
  before(async () => {
    server = await PostgresServer.start();
    url = server.url;
  });
  after(() => server?.stop());

  test("refuses every write of its former owner once another one has opened it", async () => {
    const name = newName();
    const former = await opened({ url, name });
    const positions = [await former.append(numbered(0, 100)), await former.append(numbered(1, 9))];
    const log = await PostgresLog.open({ url, name, exclusive: false });
    const late = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => former.append(numbered(2 + i, 100))),
    );
    for (const result of late) {
      assert.equal(result.status, "rejected");
      assert.equal(result.reason.code, "LOG_FAILED");
      assert.match(result.reason.message, /another owner has taken over/);
    }
    assert.equal((await former.failed).code, "LOG_FAILED");
    await assert.rejects(former.trim(positions[1]!), { code: "LOG_FAILED" });
    const replayed: Position[] = [];
    for await (const { position } of log.replay()) replayed.push(position);
    assert.deepEqual(replayed, positions);
    await log.append(numbered(2, 100));
    await Promise.all([log.close(), former.close()]);
  });

  test("refuses a trim of its former owner that has not tried to write", async () => {
    const name = newName();
    const former = await opened({ url, name, segmentBytes: 4096 });
    for (let i = 0; i < 40; i++) await former.append(numbered(i, 1000));
    const log = await PostgresLog.open({ url, name, exclusive: false });
    await assert.rejects(former.trim(Number.MAX_SAFE_INTEGER), { code: "LOG_FAILED" });
    let count = 0;
    for await (const _ of log.replay()) count++;
    assert.equal(count, 40);
    await Promise.all([log.close(), former.close()]);
  });

  test("replays what was confirmed while another one opens it", async () => {
    for (let round = 0; round < 5; round++) {
      const name = newName();
      const former = await opened({ url, name });
      const load = new AppendLoad(former, 20, (number) => (number % 2 === 0 ? 3000 : 600_000));
      await load.more(10);
      const log = await PostgresLog.open({ url, name, exclusive: false });
      await load.end();
      await checkReplay(log, load);
      await log.append(numbered(0, 10));
      await Promise.all([log.close(), former.close()]);
    }
  });

  test("has one owner when two open it at once", async () => {
    const name = newName();
    const first = await opened({ url, name });
    await first.append(numbered(0, 10));
    const both = await Promise.all([opened({ url, name }), opened({ url, name })]);
    const appended = await Promise.allSettled(both.map((log) => log.append(numbered(1, 10))));
    assert.equal(appended.filter(({ status }) => status === "fulfilled").length, 1);
    const next = await PostgresLog.open({ url, name, exclusive: false });
    const numbers: number[] = [];
    for await (const { facts } of next.replay()) numbers.push(Buffer.from(facts).readUInt32LE());
    assert.deepEqual(numbers, [0, 1]);
    await Promise.all([first, ...both, next].map((log) => log.close()));
  });

  test("waits for a lock longer than its role may", async () => {
    await query(url, "CREATE ROLE hasty LOGIN SUPERUSER");
    for (const limit of ["lock_timeout = 100", "statement_timeout = 1000"]) {
      await query(url, `ALTER ROLE hasty SET ${limit}`);
    }
    const hasty = Object.assign(new URL(url), { username: "hasty" }).href;
    const log = await opened({ url: hasty, name: newName() });
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    await holder.query("BEGIN");
    await holder.query("LOCK TABLE sluice.entries IN EXCLUSIVE MODE");
    const appended = log.append(numbered(0, 10));
    const waits = `SELECT FROM pg_stat_activity WHERE usename = 'hasty'
      AND wait_event_type = 'Lock' AND query_start < clock_timestamp() - interval '1.2 seconds'`;
    const isOver = appended.then(() => true, String);
    let over: unknown = false;
    while (over === false && (await query(url, waits)).length === 0) {
      over = await Promise.race([isOver, Promise.resolve(false)]);
    }
    assert.equal(over, false);
    await holder.query("COMMIT");
    await holder.end();
    await appended;
    await log.close();
  });

  for (const level of ["repeatable read", "serializable"]) {
    test(`is opened behind a busy owner where transactions are ${level}`, async () => {
      const name = newName();
      const user = level.slice(0, 6);
      await query(url, `CREATE ROLE ${user} LOGIN SUPERUSER`);
      await query(url, `ALTER ROLE ${user} SET default_transaction_isolation = '${level}'`);
      const strictUrl = Object.assign(new URL(url), { username: user }).href;
      const former = await opened({ url: strictUrl, name });
      const position = await former.append(numbered(0, 10));
      // The former owner's next statement, which is still at work.
      const busy = new pg.Client({ connectionString: url });
      await busy.connect();
      await busy.query("BEGIN");
      await busy.query(
        `INSERT INTO sluice.entries (log, position, fence, entry)
          SELECT id, $2, fence, '' FROM pg_advisory_xact_lock_shared(7311071,
            (SELECT id FROM sluice.logs WHERE name = $1)), sluice.logs WHERE name = $1`,
        [name, position + 1],
      );
      const opening = PostgresLog.open({ url: strictUrl, name, exclusive: false });
      const waits = "SELECT FROM pg_stat_activity WHERE wait_event = 'advisory'";
      while ((await query(url, waits)).length === 0);
      await busy.query("COMMIT");
      const log = await opening;
      await busy.end();
      await Promise.all([log.close(), former.close()]);
    });
  }

  test("stores each batch once when its connections are cut under load", async () => {
    const name = newName();
    const log = await opened({ url, name });
    const load = new AppendLoad(log, 8);
    for (let round = 0; round < 20; round++) {
      await load.more(10);
      const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name LIKE 'sluice ' || $1 || ' %'`;
      await query(url, cut, [name]);
    }
    await load.more(10);
    await load.end();
    await log.close();
    const next = await PostgresLog.open({ url, name, exclusive: false });
    assert.equal(await checkReplay(next, load), load.confirmed.length);
    await next.close();
  });

  test("is locked again after its connection was lost", async () => {
    const name = newName();
    const log = await opened({ url, name, exclusive: true });
    await assert.rejects(PostgresLog.open({ url, name }), { code: "LOG_LOCKED" });
    const cut = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name LIKE 'sluice ' || $1 || ' %'`;
    await query(url, cut, [name]);
    await log.append(numbered(0, 10));
    await assert.rejects(PostgresLog.open({ url, name }), { code: "LOG_LOCKED" });
    await log.close();
    await (await opened({ url, name, exclusive: true })).close();
  });

  test("is refused as damaged when an entry was changed, moved or deleted", async () => {
    const changes = [
      "UPDATE sluice.entries SET entry = set_byte(entry, 60, 255) WHERE log = $1 AND position = 5",
      "DELETE FROM sluice.entries WHERE log = $1 AND position = 5",
      `UPDATE sluice.entries SET entry = (SELECT entry FROM sluice.entries
        WHERE log = $1 AND position = 4) WHERE log = $1 AND position = 5`,
      "UPDATE sluice.entries SET entry = 'foreign' WHERE log = $1 AND position = 5",
    ];
    for (const change of changes) {
      const name = newName();
      const log = await opened({ url, name });
      for (let i = 0; i < 10; i++) await log.append(numbered(i, 100));
      await log.close();
      const [row] = await query(url, "SELECT id FROM sluice.logs WHERE name = $1", [name]);
      await query(url, change, [(row as { id: number }).id]);
      const message = new RegExp(`^the PostgreSQL log ${name} is damaged at position \\d+: `);
      await assert.rejects(opened({ url, name }), { code: "LOG_DAMAGED", message });
    }
  });

  test("is refused when it lacks what an earlier owner has noted as confirmed", async () => {
    const name = newName();
    const former = await opened({ url, name });
    await former.append(numbered(0, 10));
    await former.close();
    const { position, chain } = former.anchor!;
    await (await opened({ url, name, anchor: { position, chain } })).close();
    for (const anchor of [
      { position, chain: chain ^ 1 },
      { position: position + 1000, chain },
    ]) {
      await assert.rejects(opened({ url, name, anchor }), { code: "LOG_DAMAGED" });
    }
  });

  test("lets go of its connections when it has failed", async () => {
    const name = newName();
    const former = await opened({ url, name });
    const log = await opened({ url, name });
    await assert.rejects(former.append(numbered(0, 10)), { code: "LOG_FAILED" });
    const count = `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE application_name LIKE 'sluice ' || $1 || ' %'`;
    for (let left = 4; left > 2; ) {
      [{ count: left }] = (await query(url, count, [name])) as [{ count: number }];
    }
    await Promise.all([log.close(), former.close()]);
  });

  test("fails when the database has lost what it had confirmed", async () => {
    const name = newName();
    const log = await opened({ url, name });
    await log.append(numbered(0, 10));
    const [row] = await query(url, "SELECT id FROM sluice.logs WHERE name = $1", [name]);
    await query(url, "DELETE FROM sluice.entries WHERE log = $1", [(row as { id: number }).id]);
    await assert.rejects(log.append(numbered(1, 10)), {
      code: "LOG_FAILED",
      message: /lost entry \d+, which was confirmed/,
    });
    await log.close();
  });

  test("says in a sentence why it cannot be opened", async () => {
    const at = new URL(url);
    const unused = `postgres://sluice@127.0.0.1:1/postgres`;
    const elsewhere = Object.assign(new URL(url), { pathname: "/missing" }).href;
    await query(url, "CREATE ROLE guest LOGIN");
    const guest = Object.assign(new URL(url), { username: "guest" }).href;
    const other = Object.assign(new URL(url), { pathname: "/other" }).href;
    await query(url, "CREATE DATABASE other");
    const guestElsewhere = Object.assign(new URL(other), { username: "guest" }).href;
    const cases: [string, RegExp][] = [
      [unused, /no PostgreSQL server accepts connections/],
      [elsewhere, /the database does not exist/],
      [guest, /lacks rights/],
      [guestElsewhere, /lacks rights/],
    ];
    assert.ok(at.port);
    for (const [wrong, message] of cases) {
      const opening = PostgresLog.open({ url: wrong, name: newName(), deadlineMs: 200 });
      await assert.rejects(opening, { code: "LOG_FAILED", message });
    }
    await assert.rejects(PostgresLog.open({ url: "nats://x" }), { code: "INVALID" });
  });

  test("says that the password is wrong, and that there are no connections left", async () => {
    const [{ hba_file: file }] = (await query(url, "SHOW hba_file")) as [{ hba_file: string }];
    await query(url, "CREATE ROLE locked LOGIN PASSWORD 'right'");
    await query(url, "CREATE ROLE crowded LOGIN CONNECTION LIMIT 0");
    const lines = `SELECT 'host all locked 127.0.0.1/32 scram-sha-256' UNION ALL
      SELECT 'host all all 127.0.0.1/32 trust' UNION ALL SELECT 'local all all trust'`;
    await query(url, `COPY (${lines}) TO '${file}'`);
    await query(url, "SELECT pg_reload_conf()");
    const as = (username: string, password = "") =>
      Object.assign(new URL(url), { username, password }).href;
    const locked = PostgresLog.open({ url: as("locked", "wrong"), deadlineMs: 200 });
    await assert.rejects(locked, { code: "LOG_FAILED", message: /the password is wrong/ });
    const crowded = PostgresLog.open({ url: as("crowded"), deadlineMs: 200 });
    await assert.rejects(crowded, { code: "LOG_FAILED", message: /no connections left/ });
  });

  test("says that a table is missing when the schema was dropped", async () => {
    await query(url, "CREATE DATABASE dropped");
    const dropped = Object.assign(new URL(url), { pathname: "/dropped" }).href;
    const log = await opened({ url: dropped });
    await query(dropped, "DROP SCHEMA sluice CASCADE");
    await assert.rejects(log.append(numbered(0, 10)), {
      code: "LOG_FAILED",
      message: /schema sluice is missing/,
    });
    await log.close();
  });

  test("waits while the disk of the database is full, and says so after the deadline", async () => {
    await query(url, "CREATE DATABASE full_disk");
    const full = Object.assign(new URL(url), { pathname: "/full_disk" }).href;
    const [patient, hasty] = [
      await opened({ url: full, name: "patient" }),
      await opened({ url: full, name: "hasty", deadlineMs: 300 }),
    ];
    // The server's own error, at the place where it would say so.
    await query(
      full,
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
      CREATE TRIGGER full_disk BEFORE INSERT ON sluice.entries EXECUTE FUNCTION refuse()`,
    );
    const waiting = patient.append(numbered(0, 10));
    await assert.rejects(hasty.append(numbered(0, 10)), {
      code: "LOG_FAILED",
      message: /the disk of the database is full/,
    });
    await query(full, "DROP TRIGGER full_disk ON sluice.entries");
    await waiting;
    await Promise.all([patient.close(), hasty.close()]);
  });

  test("refuses tables of a newer release", async () => {
    await query(url, "CREATE DATABASE newer");
    const newer = Object.assign(new URL(url), { pathname: "/newer" }).href;
    await (await opened({ url: newer })).close();
    await query(newer, "UPDATE sluice.versions SET version = 99");
    await assert.rejects(PostgresLog.open({ url: newer }), { code: "LOG_VERSION", message: /99/ });
  });

  test("says that the database is read-only, and continues when it is not", async () => {
    await query(url, "CREATE DATABASE standby");
    const standby = Object.assign(new URL(url), { pathname: "/standby" }).href;
    const log = await opened({ url: standby, deadlineMs: 400 });
    await query(standby, "ALTER DATABASE standby SET default_transaction_read_only = on");
    const cut =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'standby' AND pid <> pg_backend_pid()";
    await query(url, cut);
    await assert.rejects(log.append(numbered(0, 10)), {
      code: "LOG_FAILED",
      message: /read-only/,
    });
    await log.close();
    await query(url, "ALTER DATABASE standby RESET default_transaction_read_only");
    const again = await opened({ url: standby });
    await again.append(numbered(0, 10));
    await again.close();
  });

  test("refuses a database that does not sync, unless durability is relaxed", async () => {
    await query(url, "CREATE DATABASE relaxed");
    await query(url, "ALTER DATABASE relaxed SET synchronous_commit = off");
    const relaxed = Object.assign(new URL(url), { pathname: "/relaxed" }).href;
    await assert.rejects(PostgresLog.open({ url: relaxed }), {
      code: "INVALID",
      message: /synchronous_commit is off/,
    });
    const log = await opened({ url: relaxed, durability: "os" });
    await log.append(numbered(0, 10));
    await log.close();
  });
});

for (const signal of ["SIGKILL", "SIGQUIT", "SIGINT"] as const) {
  test(`a log outlives its server (${signal}), with all that was confirmed, once`, async () => {
    const server = await PostgresServer.start();
    const { url } = server;
    try {
      const log = await opened({ url });
      const load = new AppendLoad(log, 8);
      for (let round = 0; round < 3; round++) {
        await load.more(50);
        await server.end(signal);
        await server.restart();
      }
      await load.more(50);
      await load.end();
      await log.close();
      const next = await PostgresLog.open({ url });
      assert.equal(await checkReplay(next, load), load.confirmed.length);
      await next.close();
    } finally {
      await server.stop();
    }
  });
}

test("a server that stands still is waited for, and each batch is stored once", async () => {
  const server = await PostgresServer.start();
  try {
    const { url } = server;
    const late = { url, answerMs: 200 };
    const patient = await opened({ ...late, name: "patient" });
    const hasty = await opened({ ...late, name: "hasty", deadlineMs: 1000 });
    const load = new AppendLoad(patient, 8);
    await load.more(20);
    server.freeze();
    await assert.rejects(hasty.append(numbered(0, 10)), {
      code: "LOG_FAILED",
      message: /nothing was confirmed for 1000 ms: the server did not answer in time$/,
    });
    server.thaw();
    await load.more(20);
    await load.end();
    await Promise.all([patient.close(), hasty.close()]);
    const next = await PostgresLog.open({ url, name: "patient" });
    assert.equal(await checkReplay(next, load), load.confirmed.length);
    await next.close();
  } finally {
    server.thaw();
    await server.stop();
  }
});

test("a server that is away for too long fails the log, which says why", async () => {
  const server = await PostgresServer.start();
  try {
    const log = await opened({ url: server.url, deadlineMs: 500, answerMs: 200 });
    await server.end("SIGQUIT");
    await assert.rejects(log.append(numbered(0, 10)), {
      code: "LOG_FAILED",
      message: /nothing was confirmed for 500 ms: no PostgreSQL server accepts connections/,
    });
    await log.close();
  } finally {
    await server.stop();
  }
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PostgresServer } from "@sluice/log/testing/postgres";
import { Logger, makeWorkerUtils } from "graphile-worker";
import pg from "pg";
import { PgBoss } from "pg-boss";
import { runSluice } from "../testing/spawn-serve.ts";

const HOUR_MS = 3_600_000;

let server: PostgresServer;
let pool: pg.Pool;
before(async () => {
  server = await PostgresServer.start();
  pool = new pg.Pool({ connectionString: server.url });
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const { code, err } = await runSluice(["postgres", "install", "--postgres", server.url]);
  assert.equal(code, 0, err);
});
after(async () => {
  await pool?.end();
  await server?.stop();
});

async function outbox() {
  const { rows } = await pool.query(
    "SELECT queue, convert_from(payload, 'UTF8')::json AS payload, options FROM sluice.outbox ORDER BY id",
  );
  await pool.query("DELETE FROM sluice.outbox");
  return rows as { queue: string; payload: unknown; options: Record<string, unknown> }[];
}

async function imported(source: string, ...words: string[]) {
  return runSluice(["import", source, "--json", "--postgres", server.url, ...words]);
}

test("moves the jobs of pg-boss once, and leaves those that run", async () => {
  const boss = new PgBoss({ connectionString: server.url, schedule: false, supervise: false });
  await boss.start();
  await boss.createQueue("mail");
  await boss.send("mail", { to: "running" });
  await boss.fetch("mail");
  const later = new Date(Date.now() + HOUR_MS);
  await boss.send("mail", { to: "now" }, { retryLimit: 4 });
  await boss.send("mail", { to: "later" }, { startAfter: later });
  await boss.stop({ graceful: false });
  assert.deepEqual(JSON.parse((await imported("pg-boss")).out), { moved: 2, left: [] });
  assert.deepEqual(JSON.parse((await imported("pg-boss")).out), { moved: 0, left: [] });
  const [now, delayed] = await outbox();
  assert.deepEqual(now, { queue: "mail", payload: { to: "now" }, options: { attempts: 5 } });
  assert.deepEqual(delayed!.payload, { to: "later" });
  assert.equal(delayed!.options.runAt, later.getTime());
  const { rows } = await pool.query("SELECT data FROM pgboss.job WHERE name = 'mail'");
  assert.deepEqual(rows, [{ data: { to: "running" } }]);
});

test("moves the jobs of Graphile Worker once, those of a named queue in order", async () => {
  const utils = await makeWorkerUtils({ pgPool: pool, logger: new Logger(() => () => {}) });
  await utils.migrate();
  const runAt = new Date(Date.now() + HOUR_MS);
  for (let n = 0; n < 3; n++) await utils.addJob("sync", { n }, { queueName: "acme" });
  await utils.addJob("report", { of: "later" }, { runAt, maxAttempts: 3 });
  await utils.release();
  assert.deepEqual(JSON.parse((await imported("graphile")).out), { moved: 4, left: [] });
  assert.deepEqual(JSON.parse((await imported("graphile")).out), { moved: 0, left: [] });
  const jobs = await outbox();
  assert.deepEqual(
    jobs.slice(0, 3).map(({ payload, options }) => [payload, options.fairnessKey, options.ordered]),
    [0, 1, 2].map((n) => [{ n }, "acme", true]),
  );
  const { queue, options } = jobs[3]!;
  assert.deepEqual([queue, options], ["report", { attempts: 3, runAt: runAt.getTime() }]);
});

test("gives jobs that are retried without end as many attempts as a job may have", async () => {
  const boss = new PgBoss({ connectionString: server.url, schedule: false, supervise: false });
  await boss.start();
  await boss.createQueue("endless");
  await boss.send("endless", {}, { retryLimit: 5000 });
  await boss.stop({ graceful: false });
  const utils = await makeWorkerUtils({ pgPool: pool, logger: new Logger(() => () => {}) });
  await utils.addJob("endless", {}, { maxAttempts: 5000 });
  await utils.release();
  for (const source of ["pg-boss", "graphile"]) {
    const { err, out } = await imported(source);
    assert.equal(err, "");
    assert.deepEqual(JSON.parse(out), { moved: 1, left: [] });
  }
  const jobs = await outbox();
  assert.deepEqual(
    jobs.map(({ options }) => options.attempts),
    [1000, 1000],
  );
});

test("moves the rest when some jobs cannot be moved, and names these", async () => {
  const boss = new PgBoss({ connectionString: server.url, schedule: false, supervise: false });
  await boss.start();
  for (const name of ["mail", "bad/name"]) await boss.createQueue(name);
  for (const name of ["mail", "bad/name", "mail", "bad/name"]) await boss.send(name, { name });
  await boss.stop({ graceful: false });
  const utils = await makeWorkerUtils({ pgPool: pool, logger: new Logger(() => () => {}) });
  for (const name of ["report", "send a mail", "report"]) await utils.addJob(name, { name });
  await utils.addJob("report", { of: "never" });
  await pool.query(`UPDATE graphile_worker._private_jobs SET run_at = 'infinity'
    WHERE payload::text LIKE '%never%'`);
  await utils.release();
  const ofBoss = await imported("pg-boss");
  assert.equal(ofBoss.code, 1, ofBoss.err);
  const { moved, left } = JSON.parse(ofBoss.out);
  assert.equal(moved, 2);
  assert.deepEqual([left[0].queue, left[0].jobs, left.length], ["bad/name", 2, 1]);
  const ofGraphile = await runSluice(["import", "graphile", "--postgres", server.url]);
  assert.equal(ofGraphile.code, 1, ofGraphile.err);
  assert.match(ofGraphile.out, /^2 jobs were moved/);
  assert.match(ofGraphile.out, /1 job stays in "report": it waits for an infinite time/);
  assert.match(ofGraphile.out, /1 job stays in "send a mail": its queue must have a name of/);
  assert.equal((await outbox()).length, 4);
  const again = await imported("pg-boss", "--rename", "bad/name=good-name");
  assert.deepEqual(JSON.parse(again.out), { moved: 2, left: [] });
  const jobs = await outbox();
  assert.deepEqual(
    jobs.map(({ queue }) => queue),
    ["good-name", "good-name"],
  );
});

test("says what is wrong with what it was given", async () => {
  const cases: [string[], number, RegExp][] = [
    [["bull"], 2, /not one of pg-boss, graphile/],
    [["pg-boss", "--schema", "a b"], 2, /--schema must be/],
    [["pg-boss", "--rename", "mail"], 2, /--rename must be OLD=NEW/],
    [["pg-boss", "--rename", "mail=a b"], 2, /--rename must be OLD=NEW/],
    [["pg-boss", "--schema", "elsewhere"], 1, /there is no table .*elsewhere/],
  ];
  for (const [[source = "", ...words], code, message] of cases) {
    const said = await imported(source, ...words);
    assert.equal(said.code, code, said.err);
    assert.match(said.err, message);
  }
});

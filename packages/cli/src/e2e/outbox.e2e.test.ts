import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PostgresServer } from "@sluice/log/testing/postgres";
import { query, runKilled } from "../testing/ordering-app/killed-run.ts";
import { runSluice, spawnServe } from "../testing/spawn-serve.ts";

const APPS = 4;
const TRANSACTIONS = 2000;
const LOOK_MS = 20;

let server: PostgresServer;
before(async () => {
  server = await PostgresServer.start();
  const { code, err } = await runSluice(["postgres", "install", "--postgres", server.url]);
  assert.equal(code, 0, err);
});
after(() => server?.stop());

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

test("each committed order is one job and one mail, whatever is killed meanwhile", async (t) => {
  // A tenth of `npm run soak -- postgres`.
  const size = Number(process.env.POSTGRES_TRANSACTIONS ?? TRANSACTIONS);
  const kills = Math.max(2, Math.round((size * 20) / 20_000));
  const of = { server, apps: APPS, transactions: Math.ceil(size / APPS), kills };
  const { orders, jobs, mails, notes, kills: killed } = await runKilled(t, of);
  assert.ok(orders.length >= Math.floor((size * 2) / 3), `${orders.length} orders`);
  assert.deepEqual(mails, orders);
  assert.equal(jobs, orders.length);
  assert.equal(notes, 0);
  for (const count of Object.values(killed)) assert.equal(count, kills);
  const counted = Object.entries(killed).map(([kind, count]) => `${kind} ${count}`);
  console.log(
    `${orders.length} of ${size} transactions committed, ${jobs} jobs, ${mails.length} mails;` +
      ` kills: ${counted.join(", ")}`,
  );
});

test("the command shows what was refused, and gives it to the relay again", async (t) => {
  const broker = await spawnServe(t, ["--postgres", server.url]);
  const sluice = await broker.connect();
  await query(server, `SELECT sluice.add('later', '1')`);
  const status = async () => {
    const { out } = await runSluice(["postgres", "status", "--json", "--postgres", server.url]);
    return JSON.parse(out) as { refused: number; rows: { code: string; id: string }[] };
  };
  await until(async () => (await status()).refused === 1);
  const { rows } = await status();
  assert.equal(rows[0]!.code, "QUEUE_NOT_FOUND");
  const later = await sluice.queue("later");
  const again = await runSluice(["postgres", "retry", rows[0]!.id, "--postgres", server.url]);
  assert.match(again.out, /1 row waits again/);
  await until(async () => (await later.stats()).waiting === 1);
  assert.equal((await status()).refused, 0);
});

test("the dashboard shows what was refused, and gives it to the relay again", async (t) => {
  const broker = await spawnServe(t, ["--postgres", server.url]);
  const sluice = await broker.connect();
  await query(server, `SELECT sluice.add('shown', '1')`);
  interface View {
    sections: { title: string; rows?: unknown[][]; rowActions?: { values: object }[][] }[];
  }
  const refused = async () => {
    const answer = await fetch(`${broker.address}/v1/apps/outbox`);
    const { view } = (await answer.json()) as { view: View };
    return view.sections.find(({ title }) => title === "Refused rows")!;
  };
  await until(async () => (await refused()).rows!.length === 1);
  const { rows, rowActions } = await refused();
  assert.deepEqual(rows![0]!.slice(1, 3), ["shown", "QUEUE_NOT_FOUND"]);
  const shown = await sluice.queue("shown");
  const act = await fetch(`${broker.address}/v1/apps/outbox/actions/retry`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ values: rowActions![0]![0]!.values }),
  });
  assert.equal(act.status, 200, await act.text());
  await until(async () => (await shown.stats()).waiting === 1);
  assert.deepEqual((await refused()).rows, []);
});

test("the command says in a sentence what is missing", async () => {
  const at = (change: Partial<URL>): string => Object.assign(new URL(server.url), change).href;
  await server.askPassword("secretive", "right");
  await query(server, "CREATE ROLE stranger LOGIN");
  await query(server, "CREATE ROLE crowded LOGIN CONNECTION LIMIT 0");
  await query(server, "CREATE ROLE reader LOGIN SUPERUSER");
  await query(server, "ALTER ROLE reader SET default_transaction_read_only = on");
  await query(server, "CREATE DATABASE bare");
  const on = (url: string, ...words: string[]): string[] => [
    "postgres",
    ...words,
    "--postgres",
    url,
  ];
  const cases: [string[], number, RegExp][] = [
    [["postgres", "status"], 2, /--postgres URL is missing/],
    [on("postgres://127.0.0.1:1/x", "status"), 3, /no PostgreSQL server accepts/],
    [on(server.url, "delete", "12"), 1, /no row 12/],
    [on(server.url, "delete", "x"), 2, /must be the number/],
    [on(at({ pathname: "/none" }), "status"), 1, /refuses: the database does not exist/],
    [on(at({ pathname: "/bare" }), "status"), 1, /no outbox: run `sluice postgres install`/],
    [
      on(at({ username: "secretive", password: "x" }), "status"),
      1,
      /refuses: the password is wrong/,
    ],
    [on(at({ username: "stranger" }), "install"), 1, /refuses: this user lacks rights/],
    [on(at({ username: "crowded" }), "status"), 3, /no connections left/],
    [on(at({ username: "reader" }), "install"), 3, /read-only/],
  ];
  for (const [words, code, message] of cases) {
    const said = await runSluice(words);
    assert.equal(said.code, code, `${words.join(" ")}: ${said.err}`);
    assert.match(said.err, message);
    // A misuse is followed by the usage.
    if (code !== 2) assert.equal(said.err.trim().split("\n").length, 1, said.err);
  }
});

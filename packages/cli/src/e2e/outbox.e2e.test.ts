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
  const { orders, jobs, mails, notes } = await runKilled(t, of);
  assert.ok(orders.length >= Math.floor((size * 2) / 3), `${orders.length} orders`);
  assert.deepEqual(mails, orders);
  assert.equal(jobs, orders.length);
  assert.equal(notes, 0);
  console.log(`${orders.length} of ${size} transactions committed, ${kills} kills of each part`);
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

test("the command says in a sentence what is missing", async () => {
  const cases: [string[], number, RegExp][] = [
    [["postgres", "status"], 2, /--postgres URL is missing/],
    [
      ["postgres", "status", "--postgres", "postgres://127.0.0.1:1/x"],
      3,
      /no PostgreSQL server accepts/,
    ],
    [["postgres", "delete", "12", "--postgres", server.url], 1, /no row 12/],
    [["postgres", "delete", "x", "--postgres", server.url], 2, /must be the number/],
  ];
  for (const [words, code, message] of cases) {
    const said = await runSluice(words);
    assert.equal(said.code, code, said.err);
    assert.match(said.err, message);
  }
});

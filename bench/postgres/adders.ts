// Three ways to add a job in a transaction of a user's own: one statement each, as each manual has
// it.

import { Logger, makeWorkerUtils } from "graphile-worker";
import type pg from "pg";
import { PgBoss } from "pg-boss";
import { installOutbox, Outbox } from "sluice/postgres";

export const SIDES = ["Sluice", "pg-boss", "Graphile Worker"] as const;
export type Side = (typeof SIDES)[number];

export const QUEUE = "mail";

export type AddJob = (tx: pg.ClientBase, payload: object) => Promise<unknown>;

export interface Adder extends AsyncDisposable {
  readonly add: AddJob;
  // The table that its rows gather in.
  readonly table: string;
}

export const ADDERS: Readonly<Record<Side, (pool: pg.Pool, url: string) => Promise<Adder>>> = {
  Sluice: sluice,
  "pg-boss": pgBoss,
  "Graphile Worker": graphile,
};

async function sluice(pool: pg.Pool): Promise<Adder> {
  await installOutbox(pool as never);
  return {
    add: (tx, payload) => new Outbox(tx).add(QUEUE, payload),
    table: "sluice.outbox",
    [Symbol.asyncDispose]: async () => {},
  };
}

async function pgBoss(_pool: pg.Pool, url: string): Promise<Adder> {
  const boss = new PgBoss({ connectionString: url, schedule: false, supervise: false });
  await boss.start();
  if ((await boss.getQueue(QUEUE)) === null) await boss.createQueue(QUEUE);
  return {
    add: (tx, payload) => {
      const executeSql = (text: string, values?: unknown[]) => tx.query(text, values);
      return boss.send(QUEUE, payload, { db: { executeSql } });
    },
    table: "pgboss.job",
    [Symbol.asyncDispose]: () => boss.stop({ graceful: false }),
  };
}

async function graphile(pool: pg.Pool): Promise<Adder> {
  const logger = new Logger(() => () => undefined);
  const utils = await makeWorkerUtils({ pgPool: pool, logger });
  await utils.migrate();
  const text = "SELECT graphile_worker.add_job($1, $2::json)";
  return {
    add: (tx, payload) => tx.query(text, [QUEUE, JSON.stringify(payload)]),
    table: "graphile_worker._private_jobs",
    [Symbol.asyncDispose]: async () => utils.release(),
  };
}

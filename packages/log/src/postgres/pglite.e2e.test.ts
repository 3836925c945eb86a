// Why PGlite cannot hold a log: it does not sync, and all of its connections are one session.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import pg from "pg";
import { PostgresLog } from "./postgres-log.ts";

interface Closed {
  close(): Promise<void>;
}

interface SocketServer extends EventTarget {
  start(): Promise<void>;
  stop(): Promise<void>;
}

// By name: the types of the packages are not checked with ours.
const [PGLITE, SOCKET] = ["@electric-sql/pglite", "@electric-sql/pglite-socket"];

let database: Closed;
let server: SocketServer;
let url: string;
before(async () => {
  const [{ PGlite }, { PGLiteSocketServer }] = await Promise.all([
    import(PGLITE!),
    import(SOCKET!),
  ]);
  database = await PGlite.create();
  server = new PGLiteSocketServer({ db: database, host: "127.0.0.1", port: 0, maxConnections: 8 });
  const listening = new Promise<string>((resolve) => {
    server.addEventListener("listening", (event) => {
      const { host, port } = (event as CustomEvent<{ host: string; port: number }>).detail;
      resolve(`postgres://postgres@${host}:${port}/postgres`);
    });
  });
  await server.start();
  url = await listening;
});
after(async () => {
  await server?.stop();
  await database?.close();
});

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

test("PGlite does not sync, so a log in it is refused", async () => {
  const opening = PostgresLog.open({ url });
  await assert.rejects(opening, { code: "INVALID", message: /^fsync is off in this database/ });
});

test("all connections to PGlite are one session, so no lock keeps a second owner out", async () => {
  const [one, other] = [await connected(), await connected()];
  const lock = "SELECT pg_try_advisory_lock(1) AS locked, pg_backend_pid() AS session";
  const [first] = (await one.query(lock)).rows;
  const [second] = (await other.query(lock)).rows;
  assert.equal(first.locked, true);
  assert.deepEqual(second, first);
  await Promise.all([one.end(), other.end()]);
});

// Orders and their mails, through kills of everything that takes part: applications that commit an
// order with its mail, or roll both back; a relay; a broker; mailers that work the mails off under
// `once`; and PostgreSQL. In the end each committed order has one job and one mail.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { PostgresServer } from "@sluice/log/testing/postgres";
import pg from "pg";
import { newDir, type Spawned, spawnServe } from "../spawn-serve.ts";
import { Revived } from "./revived.ts";

export interface KilledRunOptions {
  /** With the outbox. */
  readonly server: PostgresServer;
  readonly apps: number;
  /** Of each application. */
  readonly transactions: number;
  /** Of each of the kinds of processes. */
  readonly kills: number;
}

/** One after the other, while orders are made; in each fifth round all at once. */
const KINDS = ["application", "relay", "broker", "PostgreSQL", "mailer"] as const;
type Kind = (typeof KINDS)[number];
const ALL_AT_ONCE = 5;

export interface KilledRunResult {
  /** How many jobs were added; all have finished. */
  readonly jobs: number;
  /** The numbers of the orders that are committed, and of the mails, in order. */
  readonly orders: readonly number[];
  readonly mails: readonly number[];
  /** Notes of `once` that are left when every job has ended. */
  readonly notes: number;
  readonly kills: Readonly<Record<Kind, number>>;
}

const APP = join(import.meta.dirname, "main.ts");
const MAILER = join(import.meta.dirname, "../mailing-app/main.ts");
const RELAY = join(import.meta.dirname, "../relaying-app/main.ts");
const LOOK_MS = 20;

export async function runKilled(t: TestContext, of: KilledRunOptions): Promise<KilledRunResult> {
  const run = new KilledRun(t, of);
  t.after(() => run.stop());
  return run.run();
}

class KilledRun {
  readonly #t: TestContext;
  readonly #of: KilledRunOptions;
  readonly #dir = newDir();
  readonly #apps: App[];
  readonly #kills: Record<Kind, number>;
  #broker: Spawned | undefined;
  #relay: Revived | undefined;
  #mailer: Revived | undefined;

  constructor(t: TestContext, of: KilledRunOptions) {
    this.#t = t;
    this.#of = of;
    const { server, apps, transactions } = of;
    this.#apps = Array.from({ length: apps }, (_, i) => new App(server, i, transactions));
    this.#kills = { application: 0, relay: 0, broker: 0, PostgreSQL: 0, mailer: 0 };
  }

  async run(): Promise<KilledRunResult> {
    const { server, apps, transactions, kills } = this.#of;
    await query(server, "CREATE TABLE orders (number integer PRIMARY KEY)");
    // Without a key: a second mail must be seen.
    await query(server, "CREATE TABLE mails (number integer)");
    await this.#serve();
    const setup = await this.#broker!.connect();
    // Attempts that a kill has used up are not what is tested.
    await setup.queue("mail", { lease: "5s", retry: { attempts: 1000, min: 0, max: "100ms" } });
    await setup.close();
    const clients = [server.url, this.#broker!.address];
    this.#relay = new Revived(() => [RELAY, ...clients]);
    this.#mailer = new Revived(() => [MAILER, ...clients]);
    const running = Promise.all(this.#apps.map((app) => app.run()));
    const total = Math.floor((apps * transactions * 2) / 3);
    const parts = kills * KINDS.length + 1;
    for (let round = 1, part = 0; round <= kills; round++) {
      const isAll = round % ALL_AT_ONCE === 0;
      for (let i = 0; i < KINDS.length; i++) {
        part++;
        // They have work for the time of the kill, and are not through before the last one.
        for (const app of this.#apps) app.allow((part + 1) / parts);
        await this.#until("orders", (total * part) / parts);
        if (!isAll) await this.#kill([KINDS[(round + i) % KINDS.length]!]);
        else if (i === 0) await this.#kill(KINDS);
      }
    }
    await running;
    return this.#judge();
  }

  stop(): void {
    this.#relay?.stop();
    this.#mailer?.stop();
    for (const app of this.#apps) app.stop();
  }

  async #kill(kinds: readonly Kind[]): Promise<void> {
    const { server } = this.#of;
    const ends: Promise<unknown>[] = [];
    for (const kind of kinds) {
      this.#kills[kind]++;
      if (kind === "application") this.#apps[this.#kills[kind] % this.#apps.length]!.kill();
      else if (kind === "relay") this.#relay!.kill();
      else if (kind === "mailer") this.#mailer!.kill();
      else if (kind === "broker") ends.push(this.#broker!.end("SIGKILL"));
      else ends.push(server.end("SIGKILL"));
    }
    await Promise.all(ends);
    if (kinds.includes("PostgreSQL")) await server.restart();
    if (kinds.includes("broker")) await this.#serve();
  }

  /** At the same address as before: its clients find it again. */
  async #serve(): Promise<void> {
    const words = ["--port", String(this.#broker?.port ?? 0)];
    this.#broker = await spawnServe(this.#t, words, this.#dir);
  }

  async #until(table: string, count: number): Promise<void> {
    await this.#poll(async () => (await countOf(this.#of.server, table)) >= count);
  }

  async #poll(isTrue: () => Promise<boolean>): Promise<void> {
    while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }

  async #judge(): Promise<KilledRunResult> {
    const { server } = this.#of;
    await this.#poll(async () => (await countOf(server, "sluice.outbox")) === 0);
    const sluice = await this.#broker!.connect();
    const mail = await sluice.queue("mail");
    await this.#poll(async () => {
      const { waiting, delayed, running } = await mail.stats();
      return waiting + delayed + running === 0;
    });
    const { finished, added } = await mail.stats();
    if (finished !== added) throw new Error(`${added} jobs were added, ${finished} have finished`);
    await this.#poll(async () => (await countOf(server, "sluice.once")) === 0);
    const moved = await query<{ n: number }>(
      server,
      "SELECT count(DISTINCT job)::int AS n FROM sluice.outbox_moved",
    );
    if (moved[0]!.n !== added) throw new Error(`${moved[0]!.n} jobs were moved, ${added} added`);
    return {
      orders: await numbersOf(server, "orders"),
      jobs: added,
      mails: await numbersOf(server, "mails"),
      notes: await countOf(server, "sluice.once"),
      kills: this.#kills,
    };
  }
}

/** An application that is killed or loses its database is started again behind what it has done. */
class App {
  readonly #server: PostgresServer;
  readonly #from: number;
  readonly #count: number;
  #child: ChildProcess | undefined;
  #isStopped = false;
  #upTo: number;

  constructor(server: PostgresServer, index: number, count: number) {
    this.#server = server;
    this.#from = index * count;
    this.#count = count;
    this.#upTo = this.#from;
  }

  /** Lets it make this share of its transactions. */
  allow(share: number): void {
    this.#upTo = this.#from + Math.ceil(this.#count * share);
    this.#tell();
  }

  #tell(): void {
    const child = this.#child;
    // One that has ended meanwhile is started again, and asks then.
    if (child?.connected === true) child.send(this.#upTo, () => {});
  }

  async run(): Promise<void> {
    const end = this.#from + this.#count;
    while (!this.#isStopped) {
      const [last] = await query<{ next: number | null }>(
        this.#server,
        `SELECT max(number) + 1 AS next FROM orders WHERE number BETWEEN ${this.#from} AND ${end - 1}`,
      );
      const next = last?.next ?? this.#from;
      const args = [APP, this.#server.url, String(next), String(end - next)];
      const stdio = ["ignore", "ignore", "ignore", "ipc"] as const;
      const child = spawn(process.execPath, args, { stdio: [...stdio] });
      this.#child = child;
      child.once("message", () => this.#tell());
      const [code] = await once(child, "exit");
      if (code === 0) return;
    }
  }

  kill(): void {
    this.#child?.kill("SIGKILL");
  }

  stop(): void {
    this.#isStopped = true;
    this.kill();
  }
}

/** Asks again while the database is away. */
export async function query<T>(server: PostgresServer, text: string): Promise<T[]> {
  for (;;) {
    const client = new pg.Client({ connectionString: server.url });
    client.on("error", () => {});
    try {
      await client.connect();
      const { rows } = await client.query(text);
      await client.end();
      return rows;
    } catch (error) {
      await client.end().catch(() => {});
      // What the database refuses is an error of the test; that it is away is not.
      if (/^(42|23|22)/.test((error as { code?: string }).code ?? "")) throw error;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}

async function countOf(server: PostgresServer, table: string): Promise<number> {
  return (await query<{ n: number }>(server, `SELECT count(*)::int AS n FROM ${table}`))[0]!.n;
}

async function numbersOf(server: PostgresServer, table: string): Promise<number[]> {
  const rows = await query<{ number: number }>(
    server,
    `SELECT number FROM ${table} ORDER BY number`,
  );
  return rows.map(({ number }) => number);
}

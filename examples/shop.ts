// A shop with Fastify, Drizzle and PostgreSQL. An order and its confirmation mail are committed
// together: both exist, or neither. The mail's note in the database is written once, however often
// its job is delivered.
//
//   DATABASE_URL=postgres://user@localhost/shop node examples/shop.ts

import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { integer, pgTable, serial, text } from "drizzle-orm/pg-core";
import { fastify } from "fastify";
import pg from "pg";
import { Sluice } from "sluice";
import { installOutbox, OutboxRelay } from "sluice/postgres";

const url = process.env.DATABASE_URL ?? "postgres://localhost/shop";
const orders = pgTable("orders", {
  id: serial().primaryKey(),
  item: text().notNull(),
  stock: integer().notNull(),
});
const mails = pgTable("mails", { order: integer().notNull(), to: text().notNull() });

const pool = new pg.Pool({ connectionString: url });
// A connection that rests in the pool is lost when the database restarts; the next one is new.
pool.on("error", () => {});
const db = drizzle(pool);
await db.execute(sql`CREATE TABLE IF NOT EXISTS orders
  (id serial PRIMARY KEY, item text NOT NULL, stock integer NOT NULL CHECK (stock >= 0))`);
await db.execute(sql`CREATE TABLE IF NOT EXISTS mails
  ("order" integer NOT NULL, "to" text NOT NULL)`);
await installOutbox(pool);

// The jobs are in the same database: there is nothing else to back up.
const sluice = await Sluice.open({ log: url });
const mail = await sluice.queue<{ order: number; to: string }>("mail");
const relay = new OutboxRelay({ url, broker: sluice.broker });
mail.work(async (job) => {
  await db.transaction((tx) => job.once(tx, () => tx.insert(mails).values(job.payload)));
});

interface NewOrder {
  readonly item: string;
  readonly to: string;
  readonly stock: number;
}

const app = fastify();
app.post<{ Body: NewOrder }>("/orders", async ({ body }, reply) => {
  const { item, to, stock } = body;
  const order = await db.transaction(async (tx) => {
    const [{ id } = { id: 0 }] = await tx.insert(orders).values({ item, stock: 1 }).returning();
    await sluice.in(tx).add("mail", { order: id, to }, { fairnessKey: to });
    // Fails when there is none left, and takes order and mail back.
    await tx.update(orders).set({ stock }).where(sql`id = ${id}`);
    return id;
  });
  return reply.code(201).send({ order });
});
app.setErrorHandler(async (_error, _request, reply) => reply.code(409).send({ error: "sold out" }));
app.get("/", async () => ({
  orders: await db.select().from(orders),
  mails: await db.select().from(mails),
}));
app.addHook("onClose", async () => {
  await relay.close();
  await sluice.close();
  await pool.end();
});

const port = Number(process.env.PORT ?? 3000);
await app.listen({ port, host: "127.0.0.1" });
console.log(app.listeningOrigin);
process.once("SIGTERM", () => app.close());

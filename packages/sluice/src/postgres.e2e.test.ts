import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PostgresServer } from "@sluice/log/testing/postgres";
import { Sluice } from "./index.ts";

let server: PostgresServer;
before(async () => {
  server = await PostgresServer.start();
});
after(() => server?.stop());

test("keeps jobs in a PostgreSQL database from one opening to the next", async () => {
  const first = await Sluice.open({ log: server.url });
  const mail = await first.queue<{ to: string }>("mail");
  const { id } = await mail.add({ to: "a@b.c" }, { fairnessKey: "acme" });
  await first.close();
  await using again = await Sluice.open({ log: server.url });
  assert.equal((await again.job(id).info()).state, "waiting");
  const queue = await again.queue<{ to: string }, string>("mail");
  queue.work(({ payload }) => `sent to ${payload.to}`);
  assert.equal(await again.job(id).finished(), "sent to a@b.c");
});

test("holds several logs in one database, each by its name", async () => {
  const at = (name: string): string => `${server.url}?log=${name}`;
  await using one = await Sluice.open({ log: at("one") });
  await using two = await Sluice.open({ log: at("two") });
  await (await one.queue("mail")).add(1);
  assert.equal((await one.queues()).length, 1);
  assert.equal((await two.queues()).length, 0);
});

test("refuses a second process on a log until the first one has ended", async () => {
  const log = `${server.url}?log=shared`;
  const first = await Sluice.open({ log });
  const mail = await first.queue("mail");
  await assert.rejects(Sluice.open({ log }), { code: "LOG_LOCKED", message: /in use by another/ });
  await mail.add(1);
  await first.close();
  await using second = await Sluice.open({ log });
  await (await second.queue("mail")).add(2);
  assert.equal((await second.queues())[0]!.stats.waiting, 2);
});

test("refuses addresses and places that contradict each other", async () => {
  await assert.rejects(Sluice.open({ log: "nats://x" }), { code: "INVALID", message: /log must/ });
  await assert.rejects(Sluice.open({ log: server.url, dir: "x" }), { code: "INVALID" });
  const memory = { log: server.url, durability: "memory" } as const;
  await assert.rejects(Sluice.open(memory), { code: "INVALID" });
});

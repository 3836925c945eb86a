// The shop, run as a program on a real PostgreSQL: an order and its mail, or neither.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { PostgresServer } from "@sluice/log/testing/postgres";

interface Shop {
  readonly orders: readonly { id: number; item: string }[];
  readonly mails: readonly { order: number; to: string }[];
}

test("the shop commits an order with its mail, and takes both back together", async (t) => {
  const server = await PostgresServer.start();
  const child = spawn(process.execPath, [join(import.meta.dirname, "shop.ts")], {
    env: { ...process.env, DATABASE_URL: server.url, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(async () => {
    const ended = once(child, "exit");
    child.kill();
    const [code] = await ended;
    await server.stop();
    assert.equal(code, 0, "it ends in order");
  });
  const [said] = await once(child.stdout, "data");
  const address = String(said).trim();
  const order = async (item: string, stock: number): Promise<number> => {
    const answer = await fetch(`${address}/orders`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ item, stock, to: `${item}@example.com` }),
    });
    return answer.status;
  };
  const look = async (): Promise<Shop> => (await fetch(address)).json() as Promise<Shop>;
  assert.equal(await order("lamp", 3), 201);
  assert.equal(await order("chair", -1), 409);
  assert.equal(await order("table", 0), 201);
  let shop = await look();
  while (shop.mails.length < 2) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    shop = await look();
  }
  assert.deepEqual(shop.orders.map(({ item }) => item).sort(), ["lamp", "table"]);
  const mailed = shop.orders.map(({ id, item }) => ({ order: id, to: `${item}@example.com` }));
  const byOrder = (a: { order: number }, b: { order: number }): number => a.order - b.order;
  assert.deepEqual([...shop.mails].sort(byOrder), mailed.sort(byOrder));
});

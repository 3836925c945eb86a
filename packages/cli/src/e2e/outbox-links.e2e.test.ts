import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PostgresServer } from "@sluice/log/testing/postgres";
import { Sluice } from "sluice";
import { installOutbox, OutboxRelay } from "sluice/postgres";
import { query } from "../testing/ordering-app/killed-run.ts";
import { TcpProxy } from "../testing/tcp-proxy.ts";

const MIB = 1024 * 1024;
const LOOK_MS = 20;

let server: PostgresServer;
let proxy: TcpProxy;
before(async () => {
  server = await PostgresServer.start();
  await installOutbox({ query: (text: string) => query(server, text) } as never);
  proxy = await TcpProxy.start(() => Number(new URL(server.url).port));
});
after(async () => {
  proxy?.close();
  await server?.stop();
});

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

function throughProxy(): string {
  const url = new URL(server.url);
  return Object.assign(url, { hostname: "127.0.0.1", port: String(proxy.port) }).href;
}

test("a row that takes longer than an answer may over a slow link is moved", async () => {
  await using sluice = await Sluice.open({ durability: "memory", payloadBytesMax: 16 * MIB });
  const slow = await sluice.queue("slow");
  const row = "'slow', convert_to(repeat('x', 12 * 1048576), 'UTF8')";
  await query(server, `INSERT INTO sluice.outbox (queue, payload) VALUES (${row})`);
  // The row needs 12 seconds.
  proxy.bytesPerMs = MIB / 1000;
  const troubles: string[] = [];
  const onTrouble = (reason: string): void => void troubles.push(reason);
  const url = throughProxy();
  const relay = new OutboxRelay({ url, broker: sluice.broker, onTrouble });
  await until(async () => troubles.length > 0 || (await slow.stats()).waiting === 1);
  proxy.bytesPerMs = Number.POSITIVE_INFINITY;
  await relay.close();
  assert.deepEqual(troubles, []);
});

test("a database that says nothing any more is given up", async () => {
  await using sluice = await Sluice.open({ durability: "memory" });
  const queue = await sluice.queue("silent");
  const troubles: string[] = [];
  const onTrouble = (reason: string): void => void troubles.push(reason);
  const relay = new OutboxRelay({ url: throughProxy(), broker: sluice.broker, onTrouble });
  await query(server, "SELECT sluice.add('silent', '1')");
  await until(async () => (await queue.stats()).waiting === 1);
  proxy.silence();
  await until(() => troubles.length > 0);
  assert.match(troubles[0]!, /the server did not answer in time$/);
  proxy.cut();
  proxy.heal();
  await query(server, "SELECT sluice.add('silent', '2')");
  await until(async () => (await queue.stats()).waiting === 2);
  await relay.close();
});

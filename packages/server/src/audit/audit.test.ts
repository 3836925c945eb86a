import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { connectBroker } from "@sluice/client/remote";
import { openLog } from "@sluice/log";
import { mountDashboard } from "../mount/mount.ts";
import { serve } from "../serve.ts";
import { call, memoryBroker, payload, start } from "../testing/start.ts";

/** What a browser adds to the requests of its page. */
const BROWSER = { "sec-fetch-mode": "cors", "sec-fetch-site": "same-origin" };

interface Told {
  action: string;
  on: string;
  who: string;
  via: string;
  name?: string;
  detail: string;
  error?: string;
  times: number;
}

const brief = ({ action, on, via }: Told): string => `${via}: ${action} ${on}`;

test("an entry names who changed something on the page; reading makes none", async (t) => {
  const { call, server } = await start(t, { keys: true, queues: ["mail"] });
  const root = (await server.firstKey)!.key;
  const made = await call("POST /v1/keys", {
    key: root,
    headers: BROWSER,
    body: { name: "ann", role: "operator" },
  });
  const { key, id } = made.body;
  const asAnn = { key, headers: BROWSER };
  await call("GET /v1/queues/mail", asAnn);
  const body = { payload: { card: "4111 1111" } };
  const added = await call("POST /v1/queues/mail/jobs", { ...asAnn, body });
  await call(`DELETE /v1/jobs/${added.body.id}`, asAnn);
  await call("PUT /v1/queues/mail", { ...asAnn, body: { lease: "10s" } });
  await call("POST /v1/queues/mail/purge", { ...asAnn, body: {} });
  assert.equal((await call("GET /v1/audit", asAnn)).status, 403);
  const { items } = (await call("GET /v1/audit", { key: root })).body as { items: Told[] };
  assert.deepEqual(items.map(brief).toReversed(), [
    "page: createKey ann",
    "page: add mail",
    `page: cancel ${added.body.id}`,
    "page: setQueue mail",
    "page: purge mail",
  ]);
  const [, set, , add] = items;
  assert.deepEqual([set!.who, set!.name], [id, "ann"]);
  assert.match(set!.error ?? "", /^FORBIDDEN: .*admin on mail/);
  assert.match(set!.detail, /"lease"/);
  assert.doesNotMatch(JSON.stringify(items), /4111/);
  assert.equal(add!.detail, '{"jobs":1}');
});

test("a program makes entries only for what destroys; the command line for all", async (t) => {
  const { call, server } = await start(t, { queues: ["mail"] });
  const worker = await connectBroker(server.address, { client: "worker" });
  t.after(() => worker.close());
  const command = await connectBroker(server.address, { client: "sluice command" });
  t.after(() => command.close());
  await worker.setQueue("mail", { lease: 1000 });
  await worker.add("mail", [{ payload }]);
  await worker.purge("mail");
  await command.setQueue("mail", {});
  await command.setGate("smtp", { rate: 5 });
  await command.add("mail", [{ payload }]);
  // Node's fetch is a program's.
  await call("POST /v1/queues/mail/jobs", { body: { payload: 1 } });
  const { items } = (await call("GET /v1/audit")).body as { items: Told[] };
  assert.deepEqual(items.map(brief).toReversed(), [
    "stream: purge mail",
    "command: setGate smtp",
    "command: add mail",
  ]);
  const found = (await call("GET /v1/audit?text=SMTP")).body.items;
  assert.deepEqual(found.map(brief), ["command: setGate smtp"]);
});

test("the log survives a restart, is read by page, and counts a repetition", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-audit-"));
  const open = async () => openBroker({ log: await openLog({ durability: "os", dir }) });
  const act = async (queue: string): Promise<void> => {
    const broker = await open();
    await broker.setQueue(queue, {});
    const server = await serve({ broker, log: "silent" });
    const line = `POST /v1/queues/${queue}/jobs`;
    for (let i = 0; i < 3; i++) {
      await call(server.address, line, { headers: BROWSER, body: { payload: i } });
    }
    await call(server.address, `POST /v1/queues/${queue}/pause`, { headers: BROWSER });
    await server.close();
    await broker.close();
  };
  await act("first");
  await act("second");
  const broker = await open();
  const server = await serve({ broker, log: "silent" });
  t.after(async () => {
    await server.close();
    await broker.close();
    rmSync(dir, { recursive: true });
  });
  const first = (await call(server.address, "GET /v1/audit?limit=3")).body;
  const next = (await call(server.address, `GET /v1/audit?limit=3&cursor=${first.cursor}`)).body;
  assert.deepEqual(
    [...first.items, ...next.items].map(({ action, on, times }: Told) => [action, on, times]),
    [
      ["setQueue", "second", 1],
      ["add", "second", 3],
      ["setQueue", "first", 1],
      ["add", "first", 3],
    ],
  );
});

test("entries of a mounted dashboard have the names of its users", async (t) => {
  const broker = await memoryBroker(t, "mail");
  const page = mountDashboard(broker, {
    user: () => "ann@example.com",
    role: "full",
    log: "silent",
  });
  const server = createServer(page).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(async () => {
    server.closeAllConnections();
    server.close();
    await page.close();
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await call(address, "POST /v1/queues/mail/purge", { body: {} });
  const [entry] = (await call(address, "GET /v1/audit")).body.items;
  assert.deepEqual([entry.who, entry.via, entry.action], ["ann@example.com", "page", "purge"]);
});

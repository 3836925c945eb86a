import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { connectBroker } from "@sluice/client/remote";
import { openLog } from "@sluice/log";
import { SystemClock } from "@sluice/protocol";
import type { AppPage } from "../app-page.ts";
import { ANYONE } from "../keys/principal.ts";
import { AUDIT_STORE } from "../keys/rights.ts";
import { AUDIT_ENTRIES_MAX } from "../limits.ts";
import { mountDashboard } from "../mount/mount.ts";
import { serve } from "../serve.ts";
import { serveHttp } from "../testing/loopback.ts";
import { call, memoryBroker, payload, start } from "../testing/start.ts";
import { AuditLog } from "./audit-log.ts";

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
  refused?: number;
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
  t.after(() => page.close());
  const address = await serveHttp(t, page);
  await call(address, "POST /v1/queues/mail/purge", { body: {} });
  const [entry] = (await call(address, "GET /v1/audit")).body.items;
  assert.deepEqual([entry.who, entry.via, entry.action], ["ann@example.com", "page", "purge"]);
});

test("a second action within a second is not hidden behind the first", async (t) => {
  const { call } = await start(t, { queues: ["mail"] });
  const bulk = (queues: string[]) =>
    call("POST /v1/bulk", { headers: BROWSER, body: { action: "retry", filter: { queues } } });
  await bulk(["mail"]);
  await bulk(["other"]);
  const told = (await call("GET /v1/audit?text=startBulk")).body.items as Told[];
  assert.deepEqual(
    told.map(({ times }) => times),
    [1, 1],
  );
  assert.match(told[0]!.detail, /other/);
});

test("a refusal does not make a done action look refused, nor the other way", async (t) => {
  const broker = await memoryBroker(t, "mail");
  const log = new AuditLog({
    ready: () => broker,
    clock: new SystemClock(),
    closing: new AbortController().signal,
    onTrouble: assert.fail,
  });
  const caller = { principal: ANYONE, via: "page" } as const;
  const action = { action: "purge", on: "mail", detail: "" };
  const refuse = async (): Promise<void> => {
    throw new Error("no");
  };
  await log.record(caller, action, async () => {});
  await assert.rejects(log.record(caller, action, refuse));
  const [entry] = (await log.list({})).items;
  assert.deepEqual([entry!.times, entry!.refused], [2, 1]);
  await log.record(caller, action, async () => {});
  await log.close();
  assert.deepEqual(
    (await log.list({})).items.map(({ times, refused }) => [times, refused]),
    [[3, 1]],
  );
});

test("an entry is short, whatever a caller sends", async (t) => {
  const { call, server } = await start(t, { keys: true });
  const root = (await server.firstKey)!.key;
  const { key } = (await call("POST /v1/keys", { key: root, body: { role: "viewer" } })).body;
  await call("POST /v1/webhooks", { key, body: { url: `https://${"x".repeat(60_000)}` } });
  const name = "n".repeat(60_000);
  const made = await call("POST /v1/keys", { key: root, body: { name, role: "viewer" } });
  assert.equal(made.status, 400);
  await call("PUT /v1/keys/none", { key: root, body: { name, role: "viewer" } });
  const { items } = (await call("GET /v1/audit", { key: root })).body as { items: Told[] };
  const longest = Math.max(...items.map((entry) => JSON.stringify(entry).length));
  assert.ok(longest < 2_000, `${longest} characters`);
});

test("a caller with many entries displaces its own, not those of others", async (t) => {
  const broker = await memoryBroker(t, "mail");
  const clock = new SystemClock();
  const closing = new AbortController().signal;
  const log = new AuditLog({ ready: () => broker, clock, closing, onTrouble: assert.fail });
  const by = (id: string) => ({ principal: { ...ANYONE, id }, via: "page" }) as const;
  const done = async (): Promise<void> => {};
  await log.record(by("quiet"), { action: "purge", on: "mail", detail: "" }, done);
  const value = { at: 0, who: "noisy", via: "http", action: "purge", detail: "", times: 1 };
  for (let i = 0; i < AUDIT_ENTRIES_MAX + 500; i += 500) {
    const entries = Array.from({ length: 500 }, (_, j) => ({ key: `0.${i + j}`, value }));
    await broker.storeWrite(AUDIT_STORE, entries);
  }
  await log.trim();
  const counts = { quiet: 0, noisy: 0 };
  const { items } = await log.list({ limit: 2 * AUDIT_ENTRIES_MAX });
  for (const { who } of items) counts[who as keyof typeof counts]++;
  assert.deepEqual(counts, { quiet: 1, noisy: AUDIT_ENTRIES_MAX - 1 });
});

test("what is done on an app's page has an entry, without the values of its form", async (t) => {
  const page: AppPage = {
    name: "outbox",
    title: "Outbox",
    view: () => ({ sections: [], actions: [{ name: "delete", title: "Delete a row" }] }),
    act: async () => "done",
  };
  const { call } = await start(t, { pages: [page] });
  const values = { id: "7", token: "hidden" };
  await call("POST /v1/apps/outbox/actions/delete", { headers: BROWSER, body: { values } });
  const [entry] = (await call("GET /v1/audit")).body.items as Told[];
  assert.equal(brief(entry!), "page: actInApp outbox");
  assert.equal(entry!.detail, '{"action":"delete","id":"7"}');
});

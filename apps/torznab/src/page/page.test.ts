import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { AppSection } from "sluice/http";
import { fakeArr, fakeProwlarr, PROGRAM_KEY } from "../testing/fake-programs.ts";
import { sampleItems } from "../testing/indexer-server.ts";
import { openIndexer, type Started, start } from "../testing/start.ts";

type Table = AppSection & { kind: "table" };

async function opened(t: TestContext, settings: Parameters<typeof start>[1] = {}) {
  const app = await start(t, settings);
  const server = await openIndexer(t, { apiKey: "the-key", items: sampleItems("a", 3) });
  const act = async (name: string, values: object): Promise<string> => {
    const { body } = await app.call(`POST /v1/apps/torznab/actions/${name}`, { values });
    return body.message ?? body.error.message;
  };
  return { app, server, act };
}

async function titled(app: Started, title: string, show = ""): Promise<Table> {
  const query = show === "" ? "" : `?show=${show}`;
  const { body } = await app.call(`GET /v1/apps/torznab${query}`);
  return body.view.sections.find((section: AppSection) => section.title === title);
}

test("the page adds, edits, tests, pauses and removes an indexer", async (t) => {
  const { app, server, act } = await opened(t);
  const typed = { url: server.url, apiKey: "the-key", name: "", kind: "torznab" };
  const added = await act("add", { ...typed, interval: "0s", windows: "100/day" });
  assert.equal(added, "some is added and answers");
  assert.match(await act("add", { ...typed, url: "nowhere" }), /indexer\.url must be/);
  assert.match(await act("add", { ...typed, windows: "x" }), /windows must be a list such as/);
  const { rows, rowActions } = await titled(app, "Indexers");
  assert.deepEqual(rows[0]?.slice(0, 3), ["some", "open", "99 of 100"]);
  assert.deepEqual(
    rowActions?.[0]?.map(({ label }) => label),
    ["Edit", "Test", "Pause", "Remove"],
  );
  // The form of a row holds all that is known but the key; saved as it is, it changes nothing.
  const { values } = rowActions![0]![0]!;
  assert.equal(JSON.stringify(values).includes("the-key"), false);
  assert.equal(await act("edit", { ...values, apiKey: "", name: "Other" }), "some is saved");
  const record = app.service.parts.indexers.get("some");
  assert.deepEqual(
    [record.name, record.limits.interval, record.limits.windows],
    ["Other", 0, [{ limit: 100, per: 86_400_000 }]],
  );
  assert.match(await act("test", { indexer: "some" }), /some answers as/);
  assert.equal(await act("pause", { indexer: "some", title: "Other" }), "some is paused");
  assert.equal((await titled(app, "Indexers")).rows[0]?.[1], "the indexer is paused");
  assert.equal(await act("resume", { indexer: "some" }), "some is resumed");
  assert.equal(await act("reset", { indexer: "some" }), "the cooldown of some is over");
  assert.equal(await act("remove", { indexer: "some" }), "some is removed");
  assert.equal((await titled(app, "Indexers")).rows.length, 0);
  assert.match(await act("remove", { indexer: "some" }), /there is no indexer some/);
});

test("indexers are imported, synchronised and removed with their source", async (t) => {
  const { app, act } = await opened(t);
  const indexer = { id: 1, name: "One", enable: true, protocol: "torrent" as const };
  const fake = await fakeProwlarr(t, [indexer]);
  const typed = { kind: "prowlarr", url: fake.url, apiKey: PROGRAM_KEY };
  assert.match(await act("source", { ...typed, apiKey: "wrong" }), /refuses the key/);
  assert.match(await act("source", typed), /is added, indexers: 1 added, 0 removed/);
  assert.match(await act("source", typed), /has the new key, indexers: 0 added/);
  const { rows, rowActions } = await titled(app, "Sources");
  assert.deepEqual([rows[0]![1], rows[0]![2]], [fake.url, 1]);
  fake.indexers = [indexer, { ...indexer, id: 2, name: "Two" }];
  const [sync, remove] = rowActions![0]!;
  assert.match(await act("sync", sync!.values), /was read, indexers: 1 added/);
  assert.match(await act("removeSource", remove!.values), /is removed, with its indexers/);
  assert.equal((await titled(app, "Indexers")).rows.length, 0);
});

test("the service is registered in Sonarr with an address that it reaches", async (t) => {
  const { app, act } = await opened(t);
  const fake = await fakeArr(t);
  const typed = { program: "sonarr", url: fake.url, apiKey: PROGRAM_KEY, name: "" };
  const away = await act("register", { ...typed, self: "http://127.0.0.1:1" });
  assert.match(away, /Unable to connect to indexer/);
  const self = app.address;
  assert.equal(await act("register", { ...typed, self }), "sonarr: Sluice is added");
  assert.equal(await act("register", { ...typed, self }), "sonarr: Sluice is changed");
  assert.match(await act("register", { ...typed, self: "" }), /register\.self must be/);
});

test("each reader sees the search that was asked for, with links that download", async (t) => {
  const { app, server } = await opened(t);
  await app.add(server, "a");
  const begin = async (q: string) => {
    const values = { q, t: "search", cat: "", indexer: "a" };
    return (await app.call("POST /v1/apps/torznab/actions/search", { values })).body;
  };
  const found = await begin("release 1");
  assert.match(found.message, /^Searching 1 indexer\./);
  const none = await begin("nothing");
  for (const { show } of [found, none]) await app.service.find(show).done;
  assert.equal((await titled(app, "Results")) === undefined, true);
  assert.equal((await titled(app, "Results", none.show)).rows.length, 0);
  const { rows, isSortable } = await titled(app, "Results", found.show);
  assert.equal(isSortable, true);
  assert.equal(rows.length, 1);
  const [title, size, seeders, peers] = rows[0]!;
  assert.match(String(title), /a Release 1/);
  assert.deepEqual([size, seeders, peers], [{ bytes: 1_000_001 }, 1, 4]);
  const { href } = rows[0]!.at(-1) as { href: string };
  const file = await app.call(`GET /${href}`);
  assert.deepEqual([file.status, file.body], [200, "d4:infoe"]);
  // Shown by another server, the link leads here.
  const elsewhere = (await app.page().view(found.show)).sections;
  const table = elsewhere.find(({ title: one }) => one === "Results") as Table;
  assert.ok((table.rows[0]!.at(-1) as { href: string }).href.startsWith(`${app.address}/download`));
  const gone = await titled(app, "Results", "no-such-search");
  assert.match(JSON.stringify(gone), /no longer kept/);
});

test("budgets, cooldowns and the forecast are drawn as timelines", async (t) => {
  const { app, server, act } = await opened(t);
  const windows = [{ limit: 4, per: "day" }];
  await app.add(server, "a", { windows, grabs: [{ limit: 5, per: "day" }] });
  await act("host", { host: new URL(server.url).host, windows: "10/hour", concurrency: "2" });
  await app.call("GET /api/a?t=search&q=release");
  await app.service.parts.sluice.gate("indexer:a").cooldown("10m", "it asked for time");
  await app.call("POST /search", { q: "later", priority: "completion" });
  const timeline = async (title: string) => {
    const section: unknown = await titled(app, title);
    return section as AppSection & { kind: "timeline" };
  };
  const [row] = (await timeline("Requests, cooldowns and forecast")).rows;
  assert.match(row!.text, /^next slot in 10 min, 1 waiting, cooling down for 10 min$/);
  assert.deepEqual(
    row!.spans.map(({ text, tone }) => [text, tone]),
    [["it asked for time", "bad"]],
  );
  // Caps and a search that were made, and the one that waits.
  assert.equal(row!.marks.filter(({ tone }) => tone === "good").length, 2);
  assert.equal(row!.marks.filter(({ text }) => text.startsWith("forecast")).length, 1);
  const { rows, from, to } = await timeline("Budgets per day");
  assert.equal(to - from, 2 * 86_400_000);
  assert.deepEqual(
    rows.map(({ label }) => label),
    ["Indexer a", "Indexer a, downloads"],
  );
  assert.match(rows[0]!.text, /^2 of 4 left, one more in 24 h$|^2 of 4 left, one more in 1 d$/);
  // Before the requests all was free, then two are used, and a day later all is free again.
  assert.deepEqual(
    rows[0]!.spans.map(({ text }) => text),
    ["4 of 4 left", "2 of 4 left", "4 of 4 left"],
  );
  assert.match((await timeline("Budgets per hour")).rows[0]!.label, /^host 127\.0\.0\.1:/);
  const hosts = await titled(app, "Limits of hosts");
  assert.deepEqual(hosts.rows[0]?.slice(1), ["", "10/hour", "2", "Indexer a"]);
  assert.match(await act("removeHost", { host: hosts.rows[0]![0] }), /are removed$/);
});

test("what the settings file describes is not changed on the page", async (t) => {
  const url = "http://127.0.0.1:9/api";
  const indexer = { id: "file", name: "File", url, apiKey: "k", enabled: false, limits: {} };
  const hosts = [{ host: "file.example", limits: { concurrency: 1 } }];
  const { app, act } = await opened(t, { settings: { indexers: [indexer], hosts } });
  const { rowActions } = await titled(app, "Indexers");
  assert.deepEqual(
    rowActions?.[0]?.map(({ label }) => label),
    ["Test", "Resume"],
  );
  for (const action of ["edit", "remove"]) {
    assert.match(await act(action, { indexer: "file" }), /defined in the settings file/);
  }
  assert.match(await act("host", { host: "file.example", concurrency: "2" }), /settings file/);
});

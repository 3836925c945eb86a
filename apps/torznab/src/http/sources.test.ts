import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "sluice";
import {
  type FakeProwlarr,
  fakeArr,
  fakeJackett,
  fakeProwlarr,
  PROGRAM_KEY,
} from "../testing/fake-programs.ts";
import { openFolder } from "../testing/folder.ts";
import { sampleItems } from "../testing/indexer-server.ts";
import { openIndexer, start } from "../testing/start.ts";
import { until } from "../testing/until.ts";

const apiKey = PROGRAM_KEY;

const prowlarr = (count: number): FakeProwlarr["indexers"] =>
  Array.from({ length: count }, (_, i) => ({
    id: i + 1,
    name: `Tracker ${i + 1}`,
    enable: i !== 1,
    protocol: i === 2 ? "usenet" : "torrent",
  }));

test("all indexers of a Prowlarr are taken over, and kept in step", async (t) => {
  const app = await start(t);
  const fake = await fakeProwlarr(t, prowlarr(3));
  const added = await app.call("POST /sources", { kind: "prowlarr", url: fake.url, apiKey });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  assert.equal(added.body.added.length, 3);
  const { indexers } = (await app.call("GET /indexers")).body;
  const seen = indexers.map((one: Record<string, unknown>) => [one.name, one.enabled, one.kind]);
  assert.deepEqual(seen, [
    ["Tracker 1", true, "torznab"],
    ["Tracker 2", false, "torznab"],
    ["Tracker 3", true, "newznab"],
  ]);
  const [first] = indexers;
  assert.equal(first.url, `${fake.url}/1/api`);
  assert.equal((await app.call(`POST /indexers/${first.id}/test`)).body.test.ok, true);
  // What is set here stays.
  const windows = [{ limit: 5, per: "hour" }];
  await app.call(`PATCH /indexers/${first.id}`, { windows, name: "Mine" });
  fake.indexers = [...prowlarr(2), { ...prowlarr(1)[0]!, id: 9, name: "New" }];
  const synced = (await app.call(`POST /sources/${added.body.id}/sync`)).body;
  assert.deepEqual([synced.added.length, synced.removed.length], [1, 1]);
  const kept = (await app.call(`GET /indexers/${first.id}`)).body;
  assert.deepEqual([kept.name, kept.budget.windows[0].limit], ["Mine", 5]);
  assert.doesNotMatch(JSON.stringify((await app.call("GET /sources")).body), /0123456789/);
});

test("a source that lists nothing, or refuses its key, removes nothing", async (t) => {
  const app = await start(t);
  const fake = await fakeProwlarr(t, prowlarr(2));
  const { id } = (await app.call("POST /sources", { kind: "prowlarr", url: fake.url, apiKey }))
    .body;
  fake.indexers = [];
  const empty = await app.call(`POST /sources/${id}/sync`);
  assert.equal(empty.status, 409);
  assert.match(empty.body.error.message, /lists no indexers any more/);
  const [source] = (await app.call("GET /sources")).body.sources;
  assert.equal(source.indexers.length, 2);
  assert.match(source.error, /lists no indexers any more/);
  const wrong = { kind: "prowlarr", url: `${fake.url}/`, apiKey: "wrong" };
  const removed = await app.call(`DELETE /sources/${id}`);
  assert.equal(removed.status, 204, JSON.stringify(removed.body));
  assert.equal((await app.call("GET /indexers")).body.indexers.length, 0);
  const refused = await app.call("POST /sources", wrong);
  assert.equal(refused.status, 409);
  assert.match(refused.body.error.message, /refuses the key/);
  assert.equal((await app.call("GET /sources")).body.sources.length, 0);
});

test("an indexer that is renamed or switched at its source keeps its limits", async (t) => {
  const app = await start(t);
  const fake = await fakeProwlarr(t, prowlarr(2));
  const added = await app.call("POST /sources", { kind: "prowlarr", url: fake.url, apiKey });
  const [first, second] = added.body.indexers as [string, string];
  await app.call(`PATCH /indexers/${first}`, { windows: [{ limit: 5, per: "hour" }] });
  await app.call(`POST /indexers/${first}/test`);
  const [one, two] = prowlarr(2) as [FakeProwlarr["indexers"][0], FakeProwlarr["indexers"][0]];
  fake.indexers = [
    { ...one, name: "Renamed", enable: false },
    { ...two, enable: true },
  ];
  const synced = (await app.call(`POST /sources/${added.body.id}/sync`)).body;
  assert.deepEqual([synced.added, synced.removed], [[], []]);
  const kept = (await app.call(`GET /indexers/${first}`)).body;
  assert.deepEqual([kept.name, kept.enabled], ["Renamed", false]);
  assert.equal(kept.budget.windows[0].left, 4, "its budget is not refilled");
  assert.equal((await app.call(`GET /indexers/${second}`)).body.enabled, true);
  await app.call(`POST /indexers/${first}/resume`);
  await app.call(`POST /indexers/${second}/pause`);
  await app.call(`POST /sources/${added.body.id}/sync`);
  const { indexers } = (await app.call("GET /indexers")).body;
  const enabled = indexers.map((shown: { enabled: boolean }) => shown.enabled);
  assert.deepEqual(enabled, [true, false], "what is set here stays until it changes there");
});

test("a source that is added again gets its new key, and keeps its indexers", async (t) => {
  const app = await start(t);
  const fake = await fakeProwlarr(t, prowlarr(1));
  const body = { kind: "prowlarr", url: fake.url, apiKey };
  const { indexers } = (await app.call("POST /sources", body)).body;
  await app.call(`PATCH /indexers/${indexers[0]}`, { windows: [{ limit: 5, per: "hour" }] });
  fake.key = "fedcba9876543210fedcba9876543210";
  assert.equal((await app.call("POST /sources", body)).status, 409, "the former key");
  const again = await app.call("POST /sources", { ...body, apiKey: fake.key });
  assert.equal(again.status, 200, JSON.stringify(again.body));
  assert.deepEqual(again.body.indexers, indexers);
  const kept = (await app.call(`GET /indexers/${indexers[0]}`)).body;
  assert.equal(kept.budget.windows[0].limit, 5);
  assert.equal((await app.call(`POST /indexers/${indexers[0]}/test`)).body.test.ok, true);
  assert.equal((await app.call("GET /sources")).body.sources.length, 1);
});

test("two programs behind one host are two sources", async (t) => {
  const app = await start(t);
  const fake = await fakeProwlarr(t, prowlarr(1));
  for (const path of ["", "/second"]) {
    const url = `${fake.url}${path}`;
    const added = await app.call("POST /sources", { kind: "prowlarr", url, apiKey });
    assert.equal(added.status, 201, JSON.stringify(added.body));
  }
  assert.equal((await app.call("GET /indexers")).body.indexers.length, 2);
});

test("sources are read again soon after a start", async (t) => {
  const folder = await openFolder(t);
  const fake = await fakeProwlarr(t, prowlarr(1));
  const before = await start(t, { folder });
  await before.call("POST /sources", { kind: "prowlarr", url: fake.url, apiKey });
  await folder.closing.shift()!();
  fake.indexers = prowlarr(2);
  const clock = new FakeClock();
  const app = await start(t, { folder, clock });
  await clock.advance("10s");
  await until(() => app.service.parts.indexers.all.length === 2);
});

test("all indexers of a Jackett are taken over by its key alone", async (t) => {
  const app = await start(t);
  const fake = await fakeJackett(t, ["one", "two"]);
  const added = await app.call("POST /sources", { kind: "jackett", url: fake.url, apiKey });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  const { indexers } = (await app.call("GET /indexers")).body;
  assert.deepEqual(
    indexers.map(({ name, url }: { name: string; url: string }) => [name, url]),
    ["one", "two"].map((id) => [
      `Tracker ${id}`,
      `${fake.url}/api/v2.0/indexers/${id}/results/torznab/api`,
    ]),
  );
  const wrong = { kind: "jackett", url: `${fake.url}/x`, apiKey: "no" };
  const refused = await app.call("POST /sources", wrong);
  assert.equal(refused.status, 409);
  assert.match(refused.body.error.message, /127\.0\.0\.1:\d+ failed: .*Invalid API Key/);
  for (const bad of [{ kind: "other" }, { kind: "jackett" }, { kind: "jackett", url: "x" }]) {
    assert.equal((await app.call("POST /sources", bad)).status, 400);
  }
});

for (const program of ["sonarr", "radarr"]) {
  test(`${program}: this service is registered once, and changed after that`, async (t) => {
    const app = await start(t);
    await app.add(await openIndexer(t), "one");
    const fake = await fakeArr(t);
    const body = { program, url: fake.url, apiKey, name: "Limiter" };
    const first = await app.call("POST /register", body);
    assert.equal(first.status, 200, JSON.stringify(first.body));
    assert.deepEqual(
      [first.body.registered[0].isNew, first.body.registered[0].name],
      [true, "Limiter"],
    );
    Object.assign(fake.indexers[0]!, { priority: 5, tags: [3] });
    const self = app.address.replace("127.0.0.1", "localhost");
    const again = await app.call("POST /register", { ...body, self });
    assert.equal(again.body.registered[0].isNew, false, JSON.stringify(again.body));
    const kept = fake.indexers[0] as { fields: { name: string; value: unknown }[] };
    const fields = new Map(kept.fields.map(({ name, value }) => [name, value]));
    assert.equal(fields.get("baseUrl"), `${self}/`);
    assert.ok((fields.get("categories") as number[]).length > 0);
    assert.deepEqual([fake.indexers[0]!.priority, fake.indexers[0]!.tags], [5, [3]]);
    assert.equal(fake.indexers.length, 1);
    const [entry] = fake.indexers as [Record<string, unknown>];
    assert.deepEqual([entry.implementation, entry.protocol], ["Torznab", "torrent"]);
    const away = { ...body, name: "Away", self: "http://127.0.0.1:1" };
    const refused = await app.call("POST /register", away);
    assert.equal(refused.status, 409);
  });
}

test("t=get gives the file of a release by its guid, within the limits on downloads", async (t) => {
  const app = await start(t);
  const one = await openIndexer(t, { dialect: "newznab", apiKey: "the-key" });
  one.items = sampleItems("first", 2);
  one.faultOn = "getnzb";
  one.fault = "nzb";
  await app.add(one, "one", { kind: "newznab", grabs: [{ limit: 2, per: "1h" }] });
  await app.call("GET /newznab/api?t=search&q=release");
  const { guid } = one.items[0]!;
  const asked = encodeURIComponent(guid);
  for (const id of [asked, encodeURIComponent(`${one.origin}/details/${guid}`)]) {
    const { status, headers, body } = await app.call(`GET /newznab/api?t=get&id=${id}`);
    assert.equal(status, 200, String(body));
    assert.equal(headers.get("content-type"), "application/x-nzb");
    assert.match(headers.get("content-disposition")!, /one\.nzb/);
  }
  const late = await app.call(`GET /newznab/one?t=get&id=${asked}`);
  assert.equal(late.status, 429);
  assert.match(late.body, /<error code="429" /);
  assert.ok(Number(late.headers.get("retry-after")) > 0);
  assert.equal(one.count("get"), 0, "its link was known");
});

test("t=get asks a usenet indexer for what no feed had, and refuses the rest", async (t) => {
  const app = await start(t);
  const one = await openIndexer(t, { dialect: "newznab", apiKey: "the-key" });
  await app.add(one, "one", { kind: "newznab" });
  one.faultOn = "get";
  one.fault = "nzb";
  const file = await app.call("GET /newznab/one?t=get&id=a%26b");
  assert.equal(file.headers.get("content-type"), "application/x-nzb");
  const { params } = one.requests.at(-1)!;
  assert.deepEqual([params.get("id"), params.get("apikey")], ["a&b", "the-key"]);
  one.fault = "gone";
  const refused = async (path: string, status: number, code: number): Promise<void> => {
    const answer = await app.call(`GET ${path}`);
    assert.equal(answer.status, status, path);
    assert.match(answer.body, new RegExp(`<error code="${code}" `), path);
  };
  await refused("/newznab/one?t=get&id=x", 404, 300);
  await refused("/newznab/one?t=get", 400, 200);
  await refused(`/newznab/one?t=get&id=${"x".repeat(3000)}`, 400, 201);
  await app.add(await openIndexer(t, { dialect: "newznab" }), "two", { kind: "newznab" });
  await refused("/newznab/api?t=get&id=x", 404, 300);
  await app.add(await openIndexer(t), "torrents");
  await refused("/api/torrents?t=get&id=x", 404, 300);
});

test("usenet indexers have an endpoint of their own, with NZB files", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t, { dialect: "newznab" });
  server.items = sampleItems("usenet", 1);
  await app.add(server, "usenet", { kind: "newznab" });
  const torrents = await app.call("GET /api?t=search&q=release");
  assert.doesNotMatch(torrents.body, /<item>/);
  const { body } = await app.call("GET /newznab/api?t=search&q=release");
  assert.match(body, /<newznab:attr name="size"/);
  assert.match(body, /type="application\/x-nzb"/);
  assert.equal((await app.call("GET /newznab/usenet?t=caps")).status, 200);
  const link = new URL(/<link>(.*download.*)<\/link>/.exec(body)![1]!.replaceAll("&amp;", "&"));
  server.fault = "nzb";
  const file = await fetch(link);
  assert.equal(file.headers.get("content-type"), "application/x-nzb");
  assert.match(file.headers.get("content-disposition")!, /usenet\.nzb/);
  assert.match(await file.text(), /<nzb /);
});

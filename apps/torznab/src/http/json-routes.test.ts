import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { HistoryRow } from "../service/search-history.ts";
import { sampleItems } from "../testing/indexer-server.ts";
import { openIndexer, type Started, start } from "../testing/start.ts";

async function withOne(t: TestContext, more: object = {}) {
  const app = await start(t);
  const server = await openIndexer(t, { apiKey: "the-key", items: sampleItems("a", 2) });
  await app.add(server, "a", more);
  return { app, server };
}

test("an indexer is added with a test, shown without its key, changed and removed", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t, { apiKey: "the-key" });
  const url = `${server.url}?apikey=the-key`;
  const added = await app.call("POST /indexers", { url, windows: [{ limit: 5, per: "hour" }] });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  // Jackett's address names the tracker, and the key was copied along with it.
  assert.equal(added.body.id, "some");
  assert.equal(added.body.hasKey, true);
  assert.equal(added.body.url, server.url);
  assert.deepEqual(added.body.test.ok, true);
  assert.equal(added.body.budget.windows[0].left, 4);
  assert.doesNotMatch(JSON.stringify(added.body), /the-key|sealed/);
  const changed = await app.call("PATCH /indexers/some", { name: "Other", interval: "10s" });
  assert.deepEqual([changed.body.name, changed.body.limits.interval], ["Other", 10_000]);
  const wider = await app.call("PATCH /indexers/some", { windows: [{ limit: 9, per: "hour" }] });
  assert.deepEqual(wider.body.budget.windows, [{ limit: 9, per: 3_600_000, used: 1, left: 8 }]);
  assert.equal((await app.call("POST /indexers", { url })).status, 409);
  assert.equal((await app.call("DELETE /indexers/some")).status, 204);
  assert.equal((await app.call("GET /indexers/some")).status, 404);
  assert.deepEqual((await app.call("GET /indexers")).body, { indexers: [] });
});

test("bad input names the field and the value", async (t) => {
  const { app } = await withOne(t);
  for (const [line, body, field] of [
    ["POST /indexers", {}, "indexer.url"],
    ["POST /indexers", { url: "ftp://x" }, "indexer.url"],
    ["POST /indexers", { url: "http://u:p@x/" }, "indexer.url"],
    ["POST /indexers", { url: "http://x/", id: "A B" }, "indexer.id"],
    ["POST /indexers", { url: "http://x/", color: "red" }, "indexer.color"],
    [
      "POST /indexers",
      { url: "http://x/", windows: [{ limit: 0, per: "hour" }] },
      "indexer.windows[0].limit",
    ],
    [
      "POST /indexers",
      { url: "http://x/", windows: [{ limit: 1, per: "year" }] },
      "indexer.windows[0].per",
    ],
    ["POST /indexers", { url: "http://x/", interval: "soon" }, "indexer.interval"],
    ["PATCH /indexers/a", { id: "b" }, "indexer.id"],
    ["POST /search", { q: "x", priority: "urgent" }, "search.priority"],
    ["POST /search", { q: "x", indexers: "a" }, "search.indexers"],
    ["POST /search", { t: "nothing" }, "search.t"],
    // What is no text must not be passed over: it would ask for everything instead.
    ["POST /search", { q: { a: 1 } }, "search.q"],
    ["POST /search", { q: true }, "search.q"],
    ["POST /search", { q: null }, "search.q"],
    ["POST /search", { q: ["x"] }, "search.q"],
    ["POST /search", { q: "x", cat: {} }, "search.cat"],
    ["POST /search", { q: "x", cat: ["tv"] }, "search.cat"],
    ["POST /search", { q: "x", prioritty: "rss" }, "search.prioritty"],
    ["POST /search", { q: "x", deadline: 0 }, "search.deadline"],
    ["POST /search", [], "search"],
    ["POST /forecast", { q: "x", maxWait: "1y" }, "search.maxWait"],
    ["POST /indexers?test=maybe", { url: "http://x/" }, "test"],
    ["POST /search", { q: "x", maxWait: -1 }, "search.maxWait"],
  ] as const) {
    const answer = await app.call(line, body);
    assert.equal(answer.status, 400, `${field} ${JSON.stringify(answer.body)}`);
    assert.equal(answer.body.error.details.field, field);
  }
  assert.equal((await app.call("POST /search", { q: "x", indexers: ["b"] })).status, 404);
});

test("a refused key stops the asking until the key changes", async (t) => {
  const { app, server } = await withOne(t, { apiKey: "a-wrong-key" });
  const first = await app.call("POST /indexers/a/test");
  assert.match(first.body.test.error, /code 100/);
  await app.call("GET /api?t=search&q=x");
  assert.equal(server.requests.length, 1);
  const { body } = await app.call("GET /indexers/a");
  assert.match(body.state, /the indexer refused its key \(code 100/);
  await app.call("PATCH /indexers/a", { apiKey: "the-key" });
  const { status } = await app.call("GET /api?t=search&q=release");
  assert.equal(status, 200);
});

test("a 429 on caps cools the indexer, a reset ends it", async (t) => {
  const { app, server } = await withOne(t);
  server.fault = "prowlarr429";
  assert.equal((await app.call("POST /indexers/a/test")).body.test.ok, false);
  const { cooling } = (await app.call("GET /activity")).body;
  assert.equal(cooling[0].indexer, "a");
  assert.match(cooling[0].reason, /Retry-After "600"/);
  assert.ok(Math.abs(cooling[0].until - Date.now() - 600_000) < 10_000);
  server.fault = undefined;
  assert.equal((await app.call("GET /api?t=search&q=x")).status, 429);
  await app.call("POST /indexers/a/reset");
  assert.equal((await app.call("GET /api?t=search&q=release")).status, 200);
});

test("wrong caps are fetched again, without a cooldown", async (t) => {
  const { app, server } = await withOne(t);
  await app.call("GET /api?t=search&q=one");
  assert.equal(server.count("caps"), 1);
  server.fault = "noFunction";
  assert.equal((await app.call("GET /api?t=search&q=two")).status, 502);
  server.fault = undefined;
  assert.equal((await app.call("GET /api?t=search&q=three")).status, 200);
  assert.equal(server.count("caps"), 2);
});

interface Heard {
  report: { indexer: string; status: string; error?: string };
  releases: unknown[];
}

async function events(app: Started, id: string): Promise<[string, Heard][]> {
  const response = await fetch(`${app.address}/search/${id}/events`);
  const text = await response.text();
  return text
    .split("\n\n")
    .map((block) => /event: (.*)\ndata: (.*)/.exec(block))
    .filter((match) => match !== null)
    .map(([, name, data]) => [name!, JSON.parse(data!)]);
}

test("a search is a job with a status per indexer, and its results stream", async (t) => {
  const { app } = await withOne(t);
  const broken = await openIndexer(t);
  await app.add(broken, "b");
  broken.fault = "html";
  const { status, body } = await app.call("POST /search", { q: "release", cat: [2000] });
  assert.equal(status, 202);
  const heard = await events(app, body.id);
  assert.equal(heard.at(-1)![0], "done");
  const byIndexer = new Map(heard.slice(0, -1).map(([, data]) => [data.report.indexer, data]));
  assert.equal(byIndexer.get("a")!.report.status, "ok");
  assert.equal(byIndexer.get("a")!.releases.length, 2);
  assert.equal(byIndexer.get("b")!.report.status, "error");
  assert.match(byIndexer.get("b")!.report.error!, /web page/);
  const after = await app.call(`GET /search/${body.id}`);
  assert.equal(after.body.done, true);
  assert.equal(after.body.releases.length, 2);
  // A client that connects late gets the same events.
  assert.equal((await events(app, body.id)).length, 3);
  assert.equal((await app.call("GET /search/nothing")).status, 404);
});

test("a search is cancelled by its id", async (t) => {
  const { app, server } = await withOne(t);
  await app.call("POST /indexers/a/test");
  server.fault = "silent";
  const { body } = await app.call("POST /search", { q: "release" });
  assert.equal((await app.call(`DELETE /search/${body.id}`)).status, 204);
  const [first] = await events(app, body.id);
  assert.equal(first![1].report.status, "cancelled");
});

test("the budget says what is left and when, and a dry run sends no requests", async (t) => {
  const limits = { interval: "60s", windows: [{ limit: 2, per: "hour" }] };
  const { app, server } = await withOne(t, limits);
  assert.equal((await app.call("GET /indexers/a/budget")).body.text, "2 of 2 left, next slot now");
  await app.call("POST /indexers/a/test");
  const { body } = await app.call("GET /indexers/a/budget");
  assert.match(body.text, /^1 of 2 left, next slot 20/);
  const waits = Object.values(body.nextSlot as Record<string, number>).map((at) => at - Date.now());
  for (const [i, ms] of [6_000, 30_000, 42_000, 60_000].entries()) {
    assert.ok(Math.abs(waits[i]! - ms) < 3_000, `${i} ${waits[i]}`);
  }
  const dry = async (request: object) =>
    (await app.call("POST /forecast", request)).body.indexers[0];
  assert.equal((await dry({ q: "x" })).goes, "later");
  assert.equal((await dry({ q: "x", priority: "rss" })).goes, "rate_limited");
  assert.equal((await dry({ q: "x", t: "music", artist: "y" })).goes, "later");
  await app.call("POST /indexers/a/pause");
  assert.deepEqual(await dry({ q: "x" }), {
    indexer: "a",
    goes: "skipped",
    reason: "the indexer is paused",
  });
  assert.equal(server.requests.length, 1);
});

test("history lists each request, the latest first", async (t) => {
  const { app, server } = await withOne(t);
  await app.call("GET /api?t=search&q=release");
  server.fault = "http500";
  await app.call("GET /api?t=search&q=nothing&cat=2000");
  const { rows } = (await app.call("GET /history")).body;
  const told = rows.map(({ kind, what, status, count }: HistoryRow) => [kind, what, status, count]);
  assert.deepEqual(told, [
    ["search", 'search "nothing" cat=2000', "error", 0],
    ["search", 'search "release"', "ok", 2],
    ["caps", "caps", "ok", 0],
  ]);
  assert.equal((await app.call("GET /history?indexer=b")).body.rows.length, 0);
});

test("its page shows indexers as gates, and acts on them", async (t) => {
  const { app, server } = await withOne(t, { windows: [{ limit: 9, per: "day" }] });
  await app.call("GET /api?t=search&q=release");
  const { view } = (await app.call("GET /v1/apps/torznab")).body;
  const table = view.sections.find(({ title }: { title: string }) => title === "Indexers");
  assert.match(table.rows[0].join(" | "), /^Indexer a \| open \| 7 of 9 \| now \| 0 \| ok$/);
  const act = (name: string) =>
    app.call(`POST /v1/apps/torznab/actions/${name}`, { values: { indexer: "a" } });
  assert.equal((await act("pause")).body.message, "a is paused");
  assert.equal((await app.call("GET /indexers/a")).body.state, "the indexer is paused");
  assert.equal((await act("resume")).body.message, "a is resumed");
  assert.equal((await act("test")).body.message, "a answers as jackett");
  server.fault = "html";
  const { status, body } = await act("test");
  assert.equal(status, 200);
  assert.match(body.message, /^a does not answer: the answer is a web page/);
  assert.match((await app.call("GET /indexers/a")).body.state, /^cooling down: .* web page/);
  assert.equal((await act("reset")).body.message, "the cooldown of a is over");
  assert.equal(app.page().name, "torznab");
});

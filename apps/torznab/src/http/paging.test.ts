import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleItems } from "../testing/indexer-server.ts";
import { openIndexer, start } from "../testing/start.ts";
import { until } from "../testing/until.ts";

const guids = (body: string): string[] =>
  [...body.matchAll(/<guid[^>]*>([^<]*)</g)].map((match) => match[1]!);
const pageOf = (body: string): string | undefined => /<torznab:response ([^>]*)\/>/.exec(body)?.[1];

test("pages beyond an indexer's first are fetched, each release once", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t, { items: sampleItems("a", 250), isPaging: true });
  await app.add(server, "a");
  const seen: string[] = [];
  for (const [offset, total] of Object.entries({ 0: 101, 100: 201, 200: 250 })) {
    const { body } = await app.call(`GET /api?t=search&q=release&limit=100&offset=${offset}`);
    assert.equal(pageOf(body), `offset="${offset}" total="${total}"`);
    seen.push(...guids(body));
  }
  assert.equal(new Set(seen).size, 250);
  assert.equal(seen.length, 250);
  const asked = server.requests.filter(({ t: mode }) => mode === "search");
  const pages = asked.map(({ params }) => `${params.get("limit")} ${params.get("offset")}`);
  // What one page needed is in the cache for the next.
  assert.deepEqual(pages, ["100 null", "100 100", "100 200"]);
});

test("an indexer's own total is counted, and a failing page leaves the first ones", async (t) => {
  const app = await start(t);
  const items = sampleItems("a", 250);
  const server = await openIndexer(t, { items, isPaging: true, total: 250 });
  await app.add(server, "a");
  const first = await app.call("GET /api?t=search&q=release");
  assert.equal(pageOf(first.body), 'offset="0" total="250"');
  server.fault = "http500";
  const second = await app.call("GET /api?t=search&q=release&limit=200");
  assert.deepEqual([second.status, guids(second.body).length], [200, 100]);
  assert.match(second.body, /<description>[^<]*Indexer a: only the first 100/);
});

test("an indexer that ignores the offset is asked for one further page at most", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t, { items: sampleItems("a", 100) });
  await app.add(server, "a");
  const { body } = await app.call("GET /api?t=search&q=release&limit=500");
  assert.equal(pageOf(body), 'offset="0" total="100"');
  assert.equal(server.count("search"), 2);
});

test("an indexer whose first page has none of the categories is asked once", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t, { items: sampleItems("a", 250), isPaging: true });
  await app.add(server, "a");
  const { body } = await app.call("GET /api?t=search&q=release&cat=7020");
  assert.equal(pageOf(body), 'offset="0" total="0"');
  assert.equal(server.count("search"), 1);
});

test("POST /search takes limit and offset", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t, { items: sampleItems("a", 250), isPaging: true });
  await app.add(server, "a");
  const { body } = await app.call("POST /search", { q: "release", limit: 2, offset: 120 });
  await app.service.find(body.id).done;
  const found = await app.call(`GET /search/${body.id}`);
  assert.equal(found.body.releases.length, 2);
  assert.equal(server.count("search"), 2);
});

test("leaving a search also ends its request for a further page", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t, { items: sampleItems("a", 250), isPaging: true });
  await app.add(server, "a");
  await app.call("GET /api?t=search&q=release");
  server.fault = "silent";
  const query = { mode: "search" as const, q: "release", limit: 200 };
  const search = app.service.search({ query });
  await until(() => server.count("search") === 2);
  app.service.release(search);
  await search.done;
  const [report] = search.reports;
  assert.deepEqual([report!.status, report!.count], ["ok", 100]);
  await until(() => server.atOnce === 0);
});

test("the feed names the indexers that did not answer", async (t) => {
  const app = await start(t);
  await app.add(await openIndexer(t, { items: sampleItems("a", 1) }), "a");
  const broken = await openIndexer(t);
  broken.fault = "http500";
  await app.add(broken, "b");
  const { status, body } = await app.call("GET /api?t=search&q=release");
  assert.equal(status, 200);
  assert.match(body, /<description>Sluice Torznab\. Incomplete: Indexer b: error, HTTP 500/);
});

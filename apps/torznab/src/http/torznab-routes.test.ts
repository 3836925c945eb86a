import assert from "node:assert/strict";
import { get } from "node:http";
import { test } from "node:test";
import { SEARCHES_RUNNING_MAX } from "../limits.ts";
import { sampleItems } from "../testing/indexer-server.ts";
import { ask, openIndexer, start } from "../testing/start.ts";
import { until } from "../testing/until.ts";

const count = (body: string): number => body.match(/<item>/g)?.length ?? 0;

test("three dialects behind one endpoint: merged, each item naming its indexer", async (t) => {
  const app = await start(t);
  const dialects = ["jackett", "prowlarr", "newznab"] as const;
  for (const dialect of dialects) {
    const apiKey = `key-of-${dialect}`;
    const server = await openIndexer(t, { dialect, apiKey, items: sampleItems(dialect, 3) });
    await app.add(server, dialect);
  }
  const { status, body } = await app.call("GET /api?t=search&q=release");
  assert.equal(status, 200, body);
  assert.equal(count(body), 9);
  for (const dialect of dialects) {
    assert.equal(body.split(`name="indexer" value="${dialect}"`).length, 4);
    const own = await app.call(`GET /api/${dialect}?t=search&q=release`);
    assert.equal(count(own.body), 3);
  }
  assert.match(body, /<torznab:response offset="0" total="9"\/>/);
  assert.doesNotMatch(body, /key-of-/);
  const page = await app.call("GET /api?T=search&Q=release&offset=7&limit=5");
  assert.equal(count(page.body), 2);
  const beyond = await app.call("GET /api?t=search&q=release&offset=100");
  assert.deepEqual([beyond.status, count(beyond.body)], [200, 0]);
});

test("a query that is too long to be read is refused in XML on /api", async (t) => {
  const { address } = await start(t);
  const long = "a".repeat(20_000);
  const asked = await ask(address, `GET /api?t=search&q=${long}`);
  assert.equal(asked.status, 431);
  assert.match(asked.headers.get("content-type")!, /^application\/xml/);
  assert.match(asked.body, /<error code="201" description="the address and the headers[^"]*"\/>/);
  const elsewhere = await ask(address, `GET /history?q=${long}`);
  assert.equal(elsewhere.status, 431);
  assert.equal(elsewhere.body.error.code, "INVALID");
});

test("the same release from two indexers is one item, from the better seeded", async (t) => {
  const app = await start(t);
  const infohash = "0123456789abcdef0123456789abcdef01234567";
  for (const [id, seeders] of Object.entries({ a: 3, b: 9 })) {
    const items = sampleItems(id, 1).map((item) => ({
      ...item,
      infohash,
      seeders,
      peers: seeders,
    }));
    await app.add(await openIndexer(t, { items }), id);
  }
  const { body } = await app.call("GET /api?t=search&q=release");
  assert.equal(count(body), 1);
  assert.match(body, /name="indexer" value="b"\/>\n<torznab:attr name="indexer" value="a"/);
  assert.match(body, /name="seeders" value="9"/);
});

test("caps: all that any indexer can do, or what one can", async (t) => {
  const app = await start(t);
  const before = await app.call("GET /api?t=caps");
  assert.match(before.body, /<tv-search available="yes"/);
  const server = await openIndexer(t, { dialect: "newznab" });
  await app.add(server, "n");
  assert.equal((await app.call("POST /indexers/n/test")).body.test.ok, true);
  const one = await app.call("GET /api/n?t=caps");
  assert.match(one.body, /<book-search available="no"/);
  assert.match(one.body, /<movie-search available="yes" supportedParams="q,imdbid"\/>/);
  assert.match(one.body, /<subcat id="2040" name="Movies\/HD"\/>/);
});

test("no words and no ids is a feed, anything else is a person who waits", async (t) => {
  const app = await start(t);
  await app.add(await openIndexer(t), "a");
  await app.call("GET /api?t=search");
  await app.call("GET /api?t=search&cat=2000&q=");
  await app.call("GET /api?t=search&q=x");
  await app.call("GET /api?t=movie&imdbid=tt0133093");
  await app.call("GET /api?t=search&q=y&priority=background");
  const priorities = app.service.searches.map(({ facts }) => facts.priority);
  assert.deepEqual(priorities, ["rss", "rss", "interactive", "interactive", "background"]);
});

test("nothing answered: the wait as a 429, the real failure before the wait", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t);
  await app.add(server, "a");
  await app.call("POST /indexers/a/test");
  await app.service.parts.sluice.gate("indexer:a").cooldown("10m", "a test");
  const limited = await app.call("GET /api?t=search&q=x");
  assert.equal(limited.status, 429);
  assert.match(limited.body, /<error code="429" description="Indexer a: /);
  const seconds = Number(limited.headers.get("retry-after"));
  assert.ok(seconds > 590 && seconds <= 600, `${seconds}`);
  const broken = await openIndexer(t);
  await app.add(broken, "b");
  broken.fault = "http500";
  const failed = await app.call("GET /api?t=search&q=x");
  assert.equal(failed.status, 502);
  assert.match(failed.body, /<error code="900" description="Indexer b: /);
  // One that answers makes it a success, though the others did not.
  await app.add(await openIndexer(t, { items: sampleItems("c", 1) }), "c");
  const some = await app.call("GET /api?t=search&q=release");
  assert.deepEqual([some.status, count(some.body)], [200, 1]);
});

test("a request that cannot be answered gets an error of the protocol", async (t) => {
  const app = await start(t);
  for (const [line, status, code] of [
    ["/api", 400, 203],
    ["/api?t=details", 400, 202],
    ["/api?t=search&cat=x", 400, 201],
    ["/api?t=movie&imdbid=tt0", 400, 201],
    ["/api?t=search&priority=urgent", 400, 201],
    [`/api?t=search&q=${"x".repeat(600)}`, 400, 201],
    ["/api/nobody?t=search", 404, 201],
    ["/api?t=search&q=x", 400, 203],
  ] as const) {
    const { status: got, body } = await app.call(`GET ${line}`);
    assert.equal(got, status, `${line} ${body}`);
    assert.match(body, new RegExp(`<error code="${code}" description="[^"]+"/>`), line);
  }
});

test("a mode that an indexer does not have is skipped, and so is one that is paused", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t, { dialect: "newznab" });
  await app.add(server, "n");
  await app.call("POST /indexers/n/test");
  const book = await app.call("GET /api?t=book&q=x");
  assert.match(book.body, /<error code="203" description="Indexer n: the indexer has no book"/);
  await app.call("POST /indexers/n/pause");
  const paused = await app.call("GET /api?t=search&q=x");
  assert.match(paused.body, /the indexer is paused/);
  assert.equal(server.count("book") + server.count("search"), 0);
});

test("a client that goes away cancels its search", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t);
  await app.add(server, "a");
  await app.call("POST /indexers/a/test");
  server.fault = "silent";
  const request = get(`${app.address}/api?t=search&q=x`);
  request.on("error", () => {});
  await until(() => server.count("search") === 1);
  const [search] = app.service.searches;
  request.destroy();
  await until(() => search!.watchers === 0);
  // A new request must not join a search that is being given up.
  const next = app.service.search({ query: { mode: "search", q: "x" } });
  assert.notEqual(next, search);
  await search!.done;
  app.service.release(next);
  await next.done;
  assert.equal(search!.reports[0]!.status, "cancelled");
  await until(() => server.atOnce === 0);
});

test("searches that are the same join while one runs, and are cached after", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t, { items: sampleItems("a", 2) });
  await app.add(server, "a");
  const answers = await Promise.all(
    ["q=Release", "q=%20Release%20", "Q=Release&limit=50"].map((query) =>
      app.call(`GET /api?t=search&${query}`),
    ),
  );
  assert.deepEqual(
    answers.map(({ body }) => count(body)),
    [2, 2, 2],
  );
  await app.call("GET /api?t=search&q=Release");
  await app.call("GET /api?t=search&q=Release&offset=1");
  assert.equal(server.count("search"), 1);
  assert.equal(server.count("caps"), 1);
});

test("searches that overlap ask an indexer once, and a durable one is joined", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t, { items: sampleItems("a", 2) });
  await app.add(server, "a");
  await app.add(await openIndexer(t), "b");
  for (const id of ["a", "b"]) await app.service.test(id);
  const request = { query: { mode: "search" as const, q: "release" } };
  const gone = app.service.search(request);
  const kept = await app.service.searchDurably(request);
  assert.notEqual(kept, gone);
  assert.equal(app.service.search(request), kept);
  assert.equal(await app.service.searchDurably(request), kept);
  assert.notEqual(app.service.search({ ...request, deadlineMs: 1_000 }), kept);
  const one = app.service.search({ ...request, indexers: ["a"] });
  await Promise.all([gone.done, kept.done, one.done]);
  for (const search of [gone, kept, one]) assert.equal(search.reports[0]!.count, 2);
  assert.equal(server.count("search"), 1);
});

test("if an indexer limits requests without a time, our answer gives one", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t);
  await app.add(server, "a");
  await app.service.test("a");
  server.fault = "requestLimit";
  const { status, headers } = await app.call("GET /api?t=search&q=x");
  const seconds = Number(headers.get("retry-after"));
  assert.equal(status, 429);
  // The first step of the ladder.
  assert.ok(seconds > 55 && seconds <= 61, `${seconds}`);
});

test("refuses searches beyond the limit, with the time after which to retry", async (t) => {
  const app = await start(t);
  await app.add(await openIndexer(t), "a");
  await app.service.test("a");
  await app.service.parts.sluice.gate("indexer:a").cooldown("20s", "a test");
  for (let i = 0; i < SEARCHES_RUNNING_MAX; i++) {
    app.service.search({ query: { mode: "search", q: `${i}` } });
  }
  const json = await app.call("POST /search", { q: "one more" });
  assert.deepEqual([json.status, json.body.error.code], [429, "QUEUE_FULL"]);
  const xml = await app.call("GET /api?t=search&q=more");
  assert.deepEqual([xml.status, xml.headers.get("retry-after")], [429, "15"]);
  assert.match(xml.body, /<error code="429"/);
  // A request for a search that is already running joins it.
  assert.equal(app.service.search({ query: { mode: "search", q: "7" } }).isDone, false);
});

test("a feed that another search is fetching is answered from that one", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t, { items: sampleItems("a", 2) });
  await app.add(server, "a");
  await app.add(await openIndexer(t), "b");
  for (const id of ["a", "b"]) await app.call(`POST /indexers/${id}/test`);
  const [all, one] = await Promise.all([
    app.call("GET /api?t=search&cat=2000"),
    app.call("GET /api/a?t=search&cat=2000"),
  ]);
  assert.deepEqual([count(all.body), count(one.body)], [2, 2], one.body);
  assert.equal(server.count("search"), 1);
});

test("a key, where one is set, in the query or a header", async (t) => {
  const apiKey = "a-key-of-our-own-that-is-long-enough";
  const app = await start(t, { settings: { apiKey } });
  const refused = await app.call("GET /api?t=caps");
  assert.equal(refused.status, 401);
  assert.match(refused.body, /<error code="100"/);
  assert.equal((await app.call("GET /api?t=caps&apikey=wrong")).status, 401);
  assert.equal((await app.call(`GET /api?t=caps&apikey=${apiKey}`)).status, 200);
  assert.equal(
    (await ask(app.address, "GET /api?t=caps", undefined, { "x-api-key": apiKey })).status,
    200,
  );
  assert.equal((await app.call("GET /indexers")).status, 401);
});

test("downloads go through us, by a sealed link, within a budget of their own", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t, { apiKey: "the-key", items: sampleItems("a", 1) });
  await app.add(server, "a", { grabs: [{ limit: 2, per: "hour" }] });
  const { body } = await app.call("GET /api?t=search&q=release");
  const link = /<link>([^<]*\/download\/[^<]*)<\/link>/.exec(body)![1]!.replaceAll("&amp;", "&");
  const path = link.slice(app.address.length);
  const file = await app.call(`GET ${path}`);
  assert.deepEqual([file.status, file.body], [200, "d4:infoe"]);
  assert.equal(file.headers.get("content-disposition"), 'attachment; filename="a.torrent"');
  server.fault = "gone";
  assert.equal((await app.call(`GET ${path}`)).status, 404);
  const limited = await app.call(`GET ${path}`);
  assert.equal(limited.status, 429);
  assert.ok(Number(limited.headers.get("retry-after")) > 3_500);
  const forged = await app.call("GET /download/a?token=AAAA");
  assert.equal(forged.status, 404);
  assert.equal((await app.call("GET /api?t=search&q=other")).status, 502);
});

// What programs of others ask, at the defaults of the service.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleItems } from "../testing/indexer-server.ts";
import { ask, openIndexer, start } from "../testing/start.ts";

test("at the defaults a second program's feed waits for its turn", async (t) => {
  const app = await start(t);
  await app.add(await openIndexer(t), "a", { interval: undefined });
  await app.call("POST /indexers/a/test");
  for (const request of [
    { t: "movie", cat: 2000, priority: "rss" },
    { q: "x", priority: "background" },
    { q: "x", priority: "completion" },
  ]) {
    const { body } = await app.call("POST /forecast", request);
    assert.equal(body.indexers[0].goes, "later", JSON.stringify(request));
  }
});

test("each priority has its own deadline, and a caller's deadline is kept", async (t) => {
  const app = await start(t);
  const spans: Record<string, number> = {};
  for (const priority of ["interactive", "rss", "background", "completion"]) {
    const { body } = await app.call("POST /search", { q: "x", priority });
    spans[priority] = body.deadline - body.createdAt;
  }
  assert.deepEqual(spans, {
    interactive: 45_000,
    rss: 60_000,
    background: 600_000,
    completion: 86_400_000,
  });
  const own = { q: "x", priority: "completion", deadline: "10m" };
  const { body } = await app.call("POST /search", own);
  assert.equal(body.deadline - body.createdAt, 600_000);
});

test("a search redirected to a magnet says so each time, and climbs the ladder", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t);
  await app.add(server, "a");
  await app.call("POST /indexers/a/test");
  server.fault = "toMagnet";
  for (const q of ["1", "2"]) {
    const { body } = await app.call(`GET /api?t=search&q=${q}`);
    assert.match(body, /Indexer a: it redirects to magnet:/);
    await app.call("POST /indexers/a/reset");
  }
});

test("an indexer that answers 404 cools down, a missing torrent cools nothing", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t, { items: sampleItems("a", 1) });
  await app.add(server, "a");
  const feed = await app.call("GET /api?t=search&q=release");
  const token = /\/download\/a\?token=([\w-]+)/.exec(feed.body)![1];
  server.fault = "http404";
  await app.call(`GET /download/a?token=${token}`);
  const grab = await app.service.parts.sluice.gate("grab:a").info();
  assert.equal(grab.cooldown, undefined);
  await app.call("GET /api?t=search&q=other");
  assert.match((await app.call("GET /indexers/a")).body.state, /^cooling down: HTTP 404/);
});

test("behind a reverse proxy, links in feeds lead to the public address", async (t) => {
  const publicUrl = "https://nas.example/torznab";
  const app = await start(t, { settings: { publicUrl } });
  await app.add(await openIndexer(t, { items: sampleItems("a", 1) }), "a");
  const { body } = await app.call("GET /api?t=search&q=release");
  assert.match(body, /<link>https:\/\/nas\.example\/torznab\/download\/a\?token=/);
  assert.match(body, /<enclosure url="https:\/\/nas\.example\/torznab\/download\/a\?/);
});

test("a former key is in no history row", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t);
  await app.add(server, "a", { apiKey: "the-former-key" });
  await app.call("POST /indexers/a/test");
  await app.call("PATCH /indexers/a", { apiKey: "the-present-key" });
  server.fault = "repeatsFormerKey";
  const { body: feed } = await app.call("GET /api?t=search&q=x");
  const shown = [feed, await app.call("GET /history"), await app.call("GET /indexers/a")];
  assert.doesNotMatch(JSON.stringify(shown), /the-former-key|sealed/);
  assert.match(feed, /REDACTED/);
});

test("the key may come as a bearer token; no t is a search, and its case is free", async (t) => {
  const apiKey = "a-key-that-is-long-enough-to-be-one";
  const app = await start(t, { settings: { apiKey } });
  const bearer = { authorization: `Bearer ${apiKey}` };
  const caps = await ask(app.address, "GET /api?t=CAPS", undefined, bearer);
  assert.deepEqual([caps.status, /<caps>/.test(caps.body)], [200, true]);
  const wrong = { authorization: "Bearer wrong" };
  assert.equal((await ask(app.address, "GET /api?t=caps", undefined, wrong)).status, 401);
  const server = await openIndexer(t, { items: sampleItems("a", 1) });
  const a = { id: "a", name: "a", url: server.url, apiKey: "", limits: { interval: 0 } };
  await app.service.parts.indexers.add(a);
  const search = await ask(app.address, "GET /api?q=release", undefined, bearer);
  assert.match(search.body, /<item>/);
});

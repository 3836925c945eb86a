import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleItems } from "../testing/indexer-server.ts";
import { openIndexer, start } from "../testing/start.ts";

const HASH = "0123456789abcdef0123456789abcdef01234567";

test("a category keeps a release that one indexer lists there and another above it", async (t) => {
  const app = await start(t);
  for (const [id, category, seeders] of [
    ["sub", 5040, 1],
    ["parent", 5000, 99],
  ] as const) {
    const own = { infohash: HASH, category, seeders, peers: seeders };
    const items = sampleItems(id, 1).map((item) => ({ ...item, ...own }));
    await app.add(await openIndexer(t, { items }), id);
  }
  const one = await app.call("GET /api/sub?t=search&q=release&cat=5040");
  const both = await app.call("GET /api?t=search&q=release&cat=5040");
  const items = [one, both].map(({ body }) => body.split("<item>").length - 1);
  assert.deepEqual(items, [1, 1]);
});

test("POST /search filters by category as the feed does", async (t) => {
  const app = await start(t);
  await app.add(await openIndexer(t, { items: sampleItems("a", 3) }), "a");
  const { body } = await app.call("POST /search", { q: "release", cat: [5000] });
  await app.service.find(body.id).done;
  const found = await app.call(`GET /search/${body.id}`);
  assert.deepEqual(found.body.releases, []);
});

test("an indexer's own categories are found under those they are mapped to", async (t) => {
  const app = await start(t);
  const items = sampleItems("a", 2).map((item, i) => ({ ...item, category: 100_123 + i }));
  const server = await openIndexer(t, { items });
  await app.add(server, "a", { categories: { 100123: 5040 } });
  const count = async (cat: string) => {
    const { body } = await app.call(`GET /api/a?t=search&q=release&cat=${cat}`);
    return body.split("<item>").length - 1;
  };
  assert.deepEqual([await count("5040"), await count("5000"), await count("2000")], [1, 1, 0]);
  const asked = server.requests.filter(({ t }) => t === "search").map(({ params }) => params);
  // In its own numbers; the parent is asked for too where the indexer lists it.
  assert.deepEqual(
    asked.map((params) => params.get("cat")),
    ["100123", "5000,100123", "2000"],
  );
  const caps = (await app.call("GET /api?t=caps")).body;
  assert.match(caps, /<category id="5000"[^>]*>(<subcat[^>]*>)*<subcat id="5040"/);
  const changed = await app.call("PATCH /indexers/a", { categories: { 100124: 2000 } });
  assert.deepEqual(changed.body.categories, { 100124: 2000 });
  assert.equal(await count("2000"), 1, "the cache holds nothing of the former mapping");
  const refused = await app.call("PATCH /indexers/a", { categories: { tv: 5000 } });
  assert.match(refused.body.error.message, /categories \(a key\) must be a whole number.*tv/);
});

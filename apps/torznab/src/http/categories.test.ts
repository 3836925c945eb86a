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

// Clients of Jackett, with only host, port and key changed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleItems } from "../testing/indexer-server.ts";
import { openIndexer, start } from "../testing/start.ts";

const at = (id: string, query: string) =>
  `GET /api/v2.0/indexers/${id}/results/torznab/api?${query}`;

test("Jackett's addresses: one indexer, all of them, and no t is a search", async (t) => {
  const app = await start(t);
  for (const id of ["a", "b"]) {
    await app.add(await openIndexer(t, { items: sampleItems(id, 2) }), id);
  }
  for (const [id, count] of Object.entries({ a: 2, all: 4 })) {
    const { status, body } = await app.call(at(id, "q=release"));
    assert.deepEqual([status, body.split("<item>").length - 1], [200, count]);
    assert.match(body, /<jackettindexer id="a">Indexer a<\/jackettindexer>/);
    assert.match(body, /<prowlarrindexer id="a">Indexer a<\/prowlarrindexer>/);
    assert.match(body, /<pubDate>Tue, 05 Mar 2024 10:11:12 \+0000<\/pubDate>/);
  }
  assert.match((await app.call(at("nobody", "t=caps"))).body, /<error code="201"/);
});

test("t=indexers lists the indexers with their caps", async (t) => {
  const app = await start(t);
  await app.add(await openIndexer(t), "a");
  await app.call("POST /indexers/a/test");
  const { status, body } = await app.call(at("all", "t=indexers&configured=true"));
  assert.equal(status, 200);
  assert.match(body, /<indexer id="a" configured="true">\n<title>Indexer a<\/title>\n<caps>/);
});

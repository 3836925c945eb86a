import assert from "node:assert/strict";
import { test } from "node:test";
import { KEPT_ANSWER_BYTES_MAX, SEARCHES_MAX } from "../limits.ts";
import { parseSettings } from "../settings/settings.ts";
import { openFolder } from "../testing/folder.ts";
import { sampleItems } from "../testing/indexer-server.ts";
import { openIndexer, start } from "../testing/start.ts";

test("after a restart each indexer is asked its own part, and no other's", async (t) => {
  const folder = await openFolder(t);
  const paused = await openIndexer(t, { items: sampleItems("p", 1) });
  const cached = await openIndexer(t, { items: sampleItems("c", 1) });
  const late = await openIndexer(t, { items: sampleItems("l", 1) });
  const first = await start(t, { folder });
  await first.add(paused, "p");
  await first.add(cached, "c");
  await first.add(late, "l");
  for (const id of ["p", "c", "l"]) await first.service.test(id);
  await first.call("POST /indexers/p/pause");
  await first.call("GET /api/c?t=search&q=release");
  await first.service.parts.sluice.gate("indexer:l").cooldown("1s", "a test");
  const { body } = await first.call("POST /search", { q: "release" });
  const before = body.indexers.map(({ status }: { status: string }) => status);
  assert.deepEqual(before, ["skipped", "ok", "waiting"]);
  await first.close();
  folder.closing.shift();

  const second = await start(t, { folder });
  const search = second.service.find(body.id);
  await search.done;
  const told = search.reports.map(({ indexer, status }) => `${indexer} ${status}`);
  // What came from the cache was never kept with the search.
  assert.deepEqual(told, ["p skipped", "c stopped", "l ok"]);
  assert.deepEqual(
    [paused, cached, late].map((server) => server.count("search")),
    [0, 1, 1],
  );
});

test("an indexer of the file stays paused by hand, unless the file sets its state", async (t) => {
  const folder = await openFolder(t);
  const server = await openIndexer(t);
  const file = (more: object) =>
    parseSettings({ indexers: [{ id: "a", url: server.url, ...more }] }, {}).indexers;
  const first = await start(t, { folder, settings: { indexers: file({}) } });
  assert.equal((await first.call("POST /indexers/a/pause")).body.enabled, false);
  for (const line of ["PATCH /indexers/a", "DELETE /indexers/a"]) {
    const { status, body } = await first.call(line, line.startsWith("PATCH") ? {} : undefined);
    assert.deepEqual([status, body.error.code], [409, "CONFLICT"], line);
  }
  await first.close();
  folder.closing.shift();
  for (const [more, enabled] of [
    [{}, false],
    [{ enabled: true }, true],
    [{}, true],
  ] as const) {
    const next = await start(t, { folder, settings: { indexers: file(more) } });
    assert.equal((await next.call("GET /indexers/a")).body.enabled, enabled);
    await next.close();
    folder.closing.shift();
  }
});

test("a search that asked no indexer is done after a restart too", async (t) => {
  const folder = await openFolder(t);
  const first = await start(t, { folder });
  await first.add(await openIndexer(t), "a");
  await first.call("POST /indexers/a/pause");
  const { body } = await first.call("POST /search", { q: "release" });
  await first.close();
  folder.closing.shift();

  const second = await start(t, { folder });
  const after = (await second.call(`GET /search/${body.id}`)).body;
  assert.deepEqual([after.done, after.indexers[0].status], [true, "skipped"]);
});

test("what was too large to be kept over a restart is said to be cut", async (t) => {
  const folder = await openFolder(t);
  const items = sampleItems("a", 1_500);
  const server = await openIndexer(t, { items });
  const late = await openIndexer(t);
  const first = await start(t, { folder });
  await first.add(server, "a");
  await first.add(late, "b");
  for (const id of ["a", "b"]) await first.service.test(id);
  await first.service.parts.sluice.gate("indexer:b").cooldown("3s", "a test");
  const { body } = await first.call("POST /search", { q: "release" });
  const whole = await first.service.find(body.id).ended("a");
  assert.deepEqual([whole.report.count, whole.report.cut], [1_500, undefined]);
  await first.close();
  folder.closing.shift();

  const second = await start(t, { folder });
  const { report, releases } = await second.service.find(body.id).ended("a");
  assert.equal(report.cut, true);
  assert.ok(report.count > 100 && report.count < 1_500, `${report.count}`);
  assert.ok(JSON.stringify(releases).length <= KEPT_ANSWER_BYTES_MAX);
});

test("searches that are forgotten leave nothing behind on disk", async (t) => {
  const app = await start(t);
  const asked = Array.from({ length: SEARCHES_MAX + 20 }, (_, i) =>
    app.service.searchDurably({ query: { mode: "search", q: `q${i}` }, indexers: [] }),
  );
  await Promise.all(asked);
  await app.call("POST /search", { q: "the last", indexers: [] });
  const kept: string[] = [];
  for await (const { key } of app.service.parts.sluice.store("torznab-searches").scan()) {
    kept.push(key);
  }
  assert.deepEqual(kept.sort(), app.service.searches.map(({ id }) => id).sort());
});

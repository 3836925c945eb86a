import assert from "node:assert/strict";
import { test } from "node:test";
import { openFolder } from "../testing/folder.ts";
import { FAULTS, type FaultName, sampleItems } from "../testing/indexer-server.ts";
import { openIndexer, start } from "../testing/start.ts";
import type { Report } from "./search.ts";

test("each fault of one indexer is its own status, and the others answer as ever", async (t) => {
  const settings = { cacheTtlMs: 0, requestTimeoutMs: 1_000, responseBytesMax: 2 * 1024 * 1024 };
  const app = await start(t, { settings });
  const dialects = ["jackett", "prowlarr", "newznab"] as const;
  const faulty = await openIndexer(t, { dialect: "prowlarr", items: sampleItems("f", 1) });
  await app.add(faulty, "faulty");
  for (const dialect of dialects) {
    await app.add(await openIndexer(t, { dialect, items: sampleItems(dialect, 1) }), dialect);
  }
  await app.call("GET /api?t=search&q=release");
  const limits = new Set(
    Object.keys(FAULTS).filter((name) => /limit|429|retry|apiDis/i.test(name)),
  );
  for (const fault of Object.keys(FAULTS) as FaultName[]) {
    faulty.fault = fault;
    const search = app.service.search({ query: { mode: "search", q: "release" } });
    await search.done;
    const reports = new Map(search.reports.map((report) => [report.indexer, report]));
    for (const dialect of dialects) assert.equal(reports.get(dialect)!.status, "ok", fault);
    const { status, error } = reports.get("faulty")!;
    if (fault === "wrongCharset") assert.equal(status, "ok");
    else if (fault === "endless" || fault === "silent") assert.equal(status, "timeout");
    else if (limits.has(fault) || fault === "retryDate")
      assert.equal(status, "rate_limited", fault);
    else assert.equal(status, "error", fault);
    assert.equal(error === undefined, fault === "wrongCharset", fault);
    faulty.fault = undefined;
    await app.service.reset("faulty");
    const { caps } = app.service.parts.indexers.get("faulty");
    if (caps === undefined) await app.service.test("faulty");
  }
});

test("50 indexers, 10 cooling, 10 slow, 5 broken: an answer in time, 50 statuses", async (t) => {
  const settings = { requestTimeoutMs: 1_500, interactiveDeadlineMs: 6_000 };
  const app = await start(t, { settings });
  const good = await openIndexer(t, { items: sampleItems("good", 1) });
  const slow = await openIndexer(t);
  const broken = await openIndexer(t);
  const kindOf = (i: number) => (i < 10 ? "cooling" : i < 20 ? "slow" : i < 25 ? "broken" : "good");
  for (let i = 0; i < 50; i++) {
    const server = { cooling: good, slow, broken, good }[kindOf(i)];
    await app.add(server, `i${i}`, { name: kindOf(i) });
  }
  await Promise.all(Array.from({ length: 50 }, (_, i) => app.service.test(`i${i}`)));
  for (let i = 0; i < 10; i++) {
    await app.service.parts.sluice.gate(`indexer:i${i}`).cooldown("1h", "HTTP 429");
  }
  slow.fault = "silent";
  broken.fault = "html";
  const startedAt = performance.now();
  const { status, body } = await app.call("GET /api?t=search&q=release");
  const tookMs = performance.now() - startedAt;
  assert.equal(status, 200);
  // All good ones offer the same release: one item that names all 25.
  assert.equal(body.match(/name="indexer"/g).length, 25);
  assert.ok(tookMs < settings.interactiveDeadlineMs + 500, `${tookMs} ms`);
  t.diagnostic(
    `answered in ${Math.round(tookMs)} ms, the slow ones take ${settings.requestTimeoutMs}`,
  );
  const [search] = app.service.searches;
  assert.equal(search!.reports.length, 50);
  const counts: Record<string, number> = {};
  for (const { name, status: end } of search!.reports as Report[]) {
    counts[`${name} ${end}`] = (counts[`${name} ${end}`] ?? 0) + 1;
  }
  assert.deepEqual(counts, {
    "cooling rate_limited": 10,
    "slow timeout": 10,
    "broken error": 5,
    "good ok": 25,
  });
});

test("a restart: half-used window, ladder, history, and a search that continues", async (t) => {
  const folder = await openFolder(t);
  const server = await openIndexer(t, { apiKey: "the-key", items: sampleItems("a", 1) });
  const first = await start(t, { folder });
  await first.add(server, "a", { windows: [{ limit: 4, per: "hour" }] });
  await first.add(server, "b");
  await first.call("GET /api/a?t=search&q=release");
  await first.service.test("b");
  server.fault = "http500";
  await first.service.test("b").catch(() => {});
  server.fault = undefined;
  await first.service.parts.sluice.gate("indexer:a").cooldown("2s", "a test");
  const { body } = await first.call("POST /search", { q: "nothing", indexers: ["a"] });
  await first.close();
  folder.closing.shift();

  const second = await start(t, { folder });
  const budget = (await second.call("GET /indexers/a/budget")).body;
  assert.deepEqual([budget.windows[0].used, budget.windows[0].limit], [2, 4]);
  assert.equal((await second.call("GET /indexers/b/budget")).body.ladderStep, 1);
  assert.equal((await second.call("GET /history")).body.rows.length, 4);
  const search = second.service.find(body.id);
  await search.done;
  assert.equal(search.reports[0]!.status, "empty");
  assert.equal((await second.call("GET /indexers/a/budget")).body.windows[0].used, 3);
  assert.equal(server.requests.at(-1)!.params.get("q"), "nothing");
});

test("reports a lost key file, and sends no requests without a key", async (t) => {
  const folder = await openFolder(t);
  const server = await openIndexer(t, { apiKey: "the-key" });
  const first = await start(t, { folder, settings: { keyFile: `${folder.dir}/one.key` } });
  await first.add(server, "a");
  await first.close();
  folder.closing.shift();
  const second = await start(t, { folder, settings: { keyFile: `${folder.dir}/two.key` } });
  const { state } = (await second.call("GET /indexers/a")).body;
  assert.match(state, /the key file has changed/);
  assert.equal((await second.call("GET /api?t=search&q=x")).status, 400);
  assert.equal(server.requests.length, 0);
});

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { PRIORITIES } from "../scheduler/priority.ts";
import { sampleItems } from "../testing/indexer-server.ts";
import { openIndexer, start } from "../testing/start.ts";
import { until } from "../testing/until.ts";

async function withOne(t: TestContext, limits: object) {
  const app = await start(t);
  const server = await openIndexer(t, { items: sampleItems("a", 1) });
  await app.add(server, "a", limits);
  const dry = async (request: object) => {
    const { status, body } = await app.call("POST /forecast", request);
    assert.equal(status, 200, JSON.stringify(body));
    const [{ goes, at, reason }] = body.indexers;
    return { goes, reason, inMs: at - Date.now() };
  };
  const slots = async () => {
    const { body } = await app.call("GET /indexers/a/budget");
    return PRIORITIES.map((priority) => Math.round((body.nextSlot[priority] - Date.now()) / 1_000));
  };
  return { app, server, dry, slots };
}

const near = (got: readonly number[], wanted: readonly number[]): void => {
  for (const [i, seconds] of wanted.entries()) {
    assert.ok(Math.abs(got[i]! - seconds) <= 3, `${got} is not ${wanted}`);
  }
};

test("the next slot of each priority is what the gate says, not what was asked last", async (t) => {
  const { app, slots } = await withOne(t, { interval: 0 });
  const feed = (await app.call("GET /api?t=search&q=release")).body;
  await app.call("PATCH /indexers/a", { interval: "100s", floor: "20s" });
  await app.service.test("a");
  near(await slots(), [20, 50, 70, 100]);
  // A download spends no query.
  const nextSlot = async () => (await app.call("GET /indexers/a/budget")).body.nextSlot;
  const before = await nextSlot();
  const token = /\/download\/a\?token=([\w-]+)/.exec(feed)![1];
  assert.equal((await app.call(`GET /download/a?token=${token}`)).status, 200);
  assert.deepEqual(await nextSlot(), before);
});

test("during a request, spacing begins now at best, and the indexer is not skipped", async (t) => {
  const { app, server, dry, slots } = await withOne(t, { interval: "100s" });
  server.fault = "silent";
  const asking = app.service.test("a").catch(() => {});
  await until(() => server.requests.length === 1);
  near(await slots(), [10, 50, 70, 100]);
  const { goes, reason } = await dry({ q: "x", priority: "rss" });
  assert.deepEqual([goes, reason], ["later", "it is being asked"]);
  await server.close();
  await asking;
});

test("a dry run says what the search itself would do", async (t) => {
  const { app, dry } = await withOne(t, {
    interval: "100s",
    windows: [{ limit: 1, per: "30s" }],
  });
  assert.equal((await dry({ q: "x" })).goes, "now");
  await app.service.test("a");
  // No words: a feed, which waits for 15 s at the most.
  const feed = await dry({});
  assert.deepEqual([feed.goes, feed.reason], ["rate_limited", "the spacing between two requests"]);
  near([feed.inMs / 1_000], [50]);
  const person = await dry({ q: "x" });
  const full = "all 1 requests of its window are used";
  assert.deepEqual([person.goes, person.reason], ["later", full]);
  near([person.inMs / 1_000], [30]);
  assert.equal((await dry({ q: "x", deadline: "10s" })).goes, "rate_limited");
  assert.equal((await dry({ q: "x", maxWait: "10s" })).goes, "rate_limited");
  await app.service.parts.sluice.gate("indexer:a").cooldown("40s", "HTTP 503");
  assert.equal((await dry({ q: "x" })).reason, "HTTP 503");
});

test("a dry run counts the requests that wait ahead of it", async (t) => {
  const { app, server, dry } = await withOne(t, { interval: "10s", floor: "10s" });
  await app.service.test("a");
  // Answered means that they are in the queue.
  await Promise.all(["one", "two"].map((q) => app.call("POST /search", { q })));
  const behind = await dry({ q: "three" });
  assert.deepEqual(
    [behind.goes, behind.reason],
    ["later", "2 requests that wait for this indexer go first"],
  );
  near([behind.inMs / 1_000], [30]);
  assert.equal(server.count("search"), 0);
});

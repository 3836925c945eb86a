import assert from "node:assert/strict";
import { test } from "node:test";
import { indexer, Rig } from "../testing/rig.ts";
import { RateLimitWaitError } from "./outcome.ts";
import { PRIORITIES } from "./priority.ts";

test("the more urgent goes first, and first in first out inside a priority", async (t) => {
  const rig = await Rig.open(t, { workers: 1 });
  const names = ["background", "completion", "rss", "interactive"] as const;
  for (const priority of names) {
    for (const n of [1, 2]) {
      rig.submit({ priority, maxWait: Infinity, indexers: [indexer(`${priority}${n}`)] });
    }
  }
  await rig.clock.advance("1s");
  const order = rig.started.map(({ indexer: id }) => id);
  assert.deepEqual(
    order,
    PRIORITIES.flatMap((name) => [`${name}1`, `${name}2`]),
  );
});

test("no priority means the spacing of background and no limit to the wait", async (t) => {
  const rig = await Rig.open(t);
  rig.submit();
  await rig.clock.advance("1s");
  for (let i = 0; i < 5; i++) rig.submit();
  await rig.clock.advance("5m");
  assert.deepEqual(rig.requests, [
    "a 5",
    "a 60005",
    "a 120005",
    "a 180005",
    "a 240005",
    "a 300005",
  ]);
});

test("each priority is spaced by its share of the base interval, from the last end", async (t) => {
  const spacings = { interactive: 6_000, rss: 30_000, completion: 42_000, background: 60_000 };
  for (const [priority, spacingMs] of Object.entries(spacings)) {
    const rig = await Rig.open(t);
    rig.tookMs = 2_000;
    const options = { priority: priority as "rss", maxWait: Infinity };
    rig.submit({ ...options, params: 1 });
    rig.submit({ ...options, params: 2 });
    await rig.clock.advance("5m");
    assert.deepEqual(rig.requests, ["a 5", `a ${5 + 2_000 + spacingMs}`], priority);
  }
});

test("no priority goes below the floor of its indexer", async (t) => {
  const rig = await Rig.open(t);
  const indexers = [indexer("a", { interval: "60s", floor: "10s" })];
  for (let i = 0; i < 2; i++) rig.submit({ priority: "interactive", indexers });
  await rig.clock.advance("5m");
  assert.deepEqual(rig.requests, ["a 5", "a 10005"]);
});

test("a window opens when its oldest request leaves it, counted from the start", async (t) => {
  const rig = await Rig.open(t);
  rig.tookMs = 10_000;
  const windows = [
    { limit: 2, per: "1h" },
    { limit: 3, per: "1d" },
  ] as const;
  const indexers = [indexer("a", { interval: 0, windows })];
  for (let i = 0; i < 4; i++) rig.submit({ indexers, params: i });
  await rig.clock.advance("59m");
  assert.deepEqual(rig.requests, ["a 5", "a 10005"]);
  await rig.clock.advanceTo(rig.startedAt + 3_600_000 + 4);
  assert.equal(rig.started.length, 2);
  await rig.clock.advance(1);
  assert.equal(rig.requests[2], "a 3600005");
  await rig.clock.advanceTo(rig.startedAt + 86_400_000 + 4);
  assert.equal(rig.started.length, 3);
  await rig.clock.advance(1);
  assert.equal(rig.requests[3], "a 86400005");
});

test("an indexer is asked one request at a time, others meanwhile", async (t) => {
  const rig = await Rig.open(t);
  rig.tookMs = 60_000;
  for (let i = 0; i < 2; i++) rig.submit({ indexers: [indexer("a", { interval: 0 })], params: i });
  rig.submit({ indexers: [indexer("b")] });
  await rig.clock.advance("2m");
  assert.deepEqual(rig.requests, ["a 5", "b 5", "a 60005"]);
});

test("ten requests run side by side and no more", async (t) => {
  const rig = await Rig.open(t);
  rig.tookMs = 1_000;
  rig.submit({ indexers: Array.from({ length: 25 }, (_, i) => indexer(`i${i}`)) });
  await rig.clock.advance(5);
  assert.equal(rig.started.length, 10);
  await rig.clock.advance("1s");
  assert.equal(rig.started.length, 20);
  await rig.clock.advance("1s");
  assert.equal(rig.started.length, 25);
});

test("submits within five milliseconds are one decision", async (t) => {
  const rig = await Rig.open(t, { workers: 1 });
  rig.tookMs = 1_000;
  rig.submit({ priority: "background", indexers: [indexer("a")] });
  await rig.clock.advance(4);
  rig.submit({ priority: "interactive", indexers: [indexer("b")] });
  await rig.clock.advance(1);
  assert.deepEqual(rig.requests, ["b 5"]);
  await rig.clock.advance("1s");
  assert.deepEqual(rig.requests, ["b 5", "a 1005"]);
});

test("searches that waited ten minutes are promoted: urgent ones starve no others", async (t) => {
  const rig = await Rig.open(t, { workers: 1 });
  rig.tookMs = 4_900;
  const urgent = (n: number): void => {
    rig.submit({
      priority: "interactive",
      params: n,
      indexers: [indexer("a", { interval: "1s" })],
    });
  };
  rig.submit({ params: "patient", indexers: [indexer("a", { interval: "1s" })] });
  for (let i = 0; i < 500; i++) {
    urgent(i);
    await rig.clock.advance("5s");
  }
  const patient = rig.started.find(({ params }) => params === "patient");
  assert.ok(patient !== undefined && patient.atMs > 600_000, `asked at ${patient?.atMs}`);
  assert.ok(patient.atMs <= 31 * 60_000, `asked at ${patient.atMs}`);
});

test("a busy indexer is waited for and never a reason to skip", async (t) => {
  const rig = await Rig.open(t);
  rig.tookMs = 120_000;
  rig.submit({ priority: "rss", params: 1 });
  await rig.clock.advance("1s");
  rig.submit({ priority: "rss", params: 2, maxWait: 40_000 });
  rig.submit({ priority: "rss", params: 3 });
  await rig.clock.advance("110s");
  assert.deepEqual(rig.statuses, []);
  // The first has ended, and now the spacing of a feed counts: 30 s are within 40 s, not 15 s.
  await rig.clock.advance("10s");
  assert.deepEqual(rig.statuses, ["a ok", "a rate_limited"]);
  await rig.clock.advance("30s");
  assert.equal(rig.started.length, 2);
});

test("not even a full window or a cooldown skips a task while its indexer is busy", async (t) => {
  const rig = await Rig.open(t);
  rig.tookMs = 30_000;
  const indexers = [indexer("a", { interval: 0, windows: [{ limit: 1, per: 40_000 }] })];
  rig.submit({ indexers });
  await rig.clock.advance("1s");
  await rig.sluice.gate("indexer:a").cooldown("20s", "a test");
  // Now it would wait for 39 s; when the first has ended, only for 10 s.
  rig.submit({ priority: "rss", params: 2, indexers });
  rig.submit({ priority: "rss", params: 3, indexers, maxWait: 9_000 });
  await rig.clock.advance("28s");
  assert.deepEqual(rig.statuses, []);
  await rig.clock.advance("1005ms");
  assert.deepEqual(rig.statuses, ["a ok", "a rate_limited"]);
  await rig.clock.advance("10s");
  assert.deepEqual(rig.requests, ["a 5", "a 40005"]);
});

test("a wait above maxWait skips at once, names the wait, and cools nothing down", async (t) => {
  const rig = await Rig.open(t);
  rig.submit();
  await rig.clock.advance(5);
  const indexers = [indexer("a"), indexer("b")];
  rig.submit({ priority: "rss", indexers });
  await rig.clock.advance(5);
  assert.deepEqual(rig.statuses.sort(), ["a ok", "a rate_limited", "b ok"]);
  const skipped = rig.completions.find(({ status }) => status === "rate_limited");
  assert.ok(skipped?.error instanceof RateLimitWaitError);
  const { indexerId, indexerName, wait, maxWait, priority } = skipped.error;
  assert.deepEqual(
    { indexerId, indexerName, wait, maxWait, priority },
    { indexerId: "a", indexerName: "Indexer a", wait: 29_995, maxWait: 15_000, priority: "rss" },
  );
  const gate = await rig.sluice.gate("indexer:a").info();
  assert.deepEqual([gate.cooldown, gate.ladderStep], [undefined, 0]);
  // No slot was taken: the next one is spaced from the first request alone.
  rig.submit({ priority: "completion" });
  await rig.clock.advance("1m");
  assert.deepEqual(rig.requests, ["a 5", "b 10", "a 42005"]);
});

test("cancelled goes before too long a wait, and that before a lack of workers", async (t) => {
  const rig = await Rig.open(t, { workers: 1 });
  rig.tookMs = 60_000;
  rig.submit({ indexers: [indexer("busy")] });
  await rig.clock.advance("1s");
  await rig.sluice.gate("indexer:cooling").cooldown("1h", "a test");
  const indexers = [indexer("cooling")];
  rig.submit({ priority: "rss", indexers, signal: AbortSignal.abort() });
  rig.submit({ priority: "rss", indexers });
  rig.submit({ priority: "rss", indexers: [indexer("free")] });
  await rig.clock.advance("1s");
  assert.deepEqual(rig.statuses, ["cooling cancelled", "cooling rate_limited"]);
  // A lack of workers is waited for, longer than maxWait too.
  await rig.clock.advance("2m");
  assert.deepEqual(rig.statuses.slice(2), ["busy ok", "free ok"]);
});

test("maxWait: the defaults, zero for the default, own values and none", async (t) => {
  const cases = [
    ["rss", undefined, 14_999, "ok"],
    ["rss", undefined, 15_000, "ok"],
    ["rss", undefined, 15_001, "rate_limited"],
    ["rss", 0, 15_001, "rate_limited"],
    ["rss", 20_000, 20_000, "ok"],
    ["rss", 20_000, 20_001, "rate_limited"],
    ["rss", Infinity, 7_200_000, "ok"],
    ["background", undefined, 60_000, "ok"],
    ["background", undefined, 60_001, "rate_limited"],
    ["completion", undefined, 7_200_000, "ok"],
    ["interactive", undefined, 7_200_000, "ok"],
    ["interactive", 1, 2, "rate_limited"],
    [undefined, undefined, 7_200_000, "ok"],
    [undefined, 1_000, 1_001, "rate_limited"],
  ] as const;
  for (const [priority, maxWait, waitMs, status] of cases) {
    const rig = await Rig.open(t);
    await rig.sluice.gate("indexer:a").cooldown(waitMs + 5, "a test");
    rig.submit({ priority, maxWait });
    await rig.clock.advance("3h");
    assert.deepEqual(rig.statuses, [`a ${status}`], `${priority} ${maxWait} ${waitMs}`);
    assert.equal(rig.started.length, status === "ok" ? 1 : 0);
  }
});

test("a cooldown that comes while a task waits is held against its maxWait", async (t) => {
  const rig = await Rig.open(t);
  rig.submit();
  await rig.clock.advance(5);
  rig.submit({ priority: "background" });
  await rig.clock.advance("10s");
  assert.deepEqual(rig.statuses, ["a ok"]);
  await rig.sluice.gate("indexer:a").cooldown("5m", "a test");
  await rig.clock.drain();
  assert.deepEqual(rig.statuses, ["a ok", "a rate_limited"]);
});

test("a task that waits for its turn until the deadline is limited, not failed", async (t) => {
  const rig = await Rig.open(t);
  const deadline = rig.clock.now() + 45_000;
  rig.tookMs = 1_000;
  for (let i = 0; i < 10; i++) {
    rig.submit({ params: { q: `${i}` }, priority: "interactive", deadline });
  }
  await rig.clock.advance("1m");
  const limited = rig.completions.filter(({ status }) => status === "rate_limited");
  assert.deepEqual(new Set(rig.statuses), new Set(["a ok", "a rate_limited"]));
  assert.match(limited[0]!.error!.message, /no turn before the search's deadline/);
});

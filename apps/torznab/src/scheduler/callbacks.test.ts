import assert from "node:assert/strict";
import { test } from "node:test";
import { indexer, Rig } from "../testing/rig.ts";
import { Fault } from "./fault.ts";

test("every kind of ending calls onComplete once, and onJobDone once after all", async (t) => {
  const rig = await Rig.open(t);
  rig.answer = ({ id }) => {
    if (id === "thrown") throw new TypeError("a bug");
    if (id === "failed") throw new Fault("broken", { status: "error", penalty: "ladder" });
    if (id === "slow") throw new Fault("too slow", { status: "timeout", penalty: "ladder" });
    if (id === "unable") throw new Fault("cannot do that", { status: "skipped" });
    return { results: id === "empty" ? [] : ["a"] };
  };
  await rig.sluice.gate("indexer:cooling").cooldown("1h", "a test");
  const names = ["ok", "empty", "thrown", "failed", "slow", "unable", "cooling"];
  rig.submit({ indexers: names.map((name) => indexer(name)), priority: "rss" });
  await rig.clock.advance("1m");
  assert.deepEqual(rig.statuses.sort(), [
    "cooling rate_limited",
    "empty empty",
    "failed error",
    "ok ok",
    "slow timeout",
    "thrown error",
    "unable skipped",
  ]);
  assert.equal(rig.calls.at(-1), "done");
  assert.equal(rig.calls.length, 8);
  const { coverage, results } = rig.completions.find(({ status }) => status === "ok")!;
  assert.deepEqual({ coverage, results }, { coverage: ["ok"], results: ["a"] });
  const empty = rig.completions.find(({ status }) => status === "empty")!;
  assert.deepEqual(empty.coverage, ["empty"]);
  const thrown = rig.completions.find(({ indexer: { id } }) => id === "thrown")!;
  assert.deepEqual(thrown.coverage, []);
  assert.ok(thrown.error instanceof TypeError);
});

test("submit answers at once; an empty one is done at once", async (t) => {
  const rig = await Rig.open(t);
  const id = rig.submit({ indexers: [] });
  assert.equal(typeof id, "string");
  assert.deepEqual(rig.calls, []);
  await Promise.resolve();
  assert.deepEqual(rig.done, [id]);
});

test("onJobDone waits until every onComplete has settled", async (t) => {
  const rig = await Rig.open(t);
  const { promise, resolve } = Promise.withResolvers<void>();
  rig.submit({ onComplete: () => promise.then(() => rig.calls.push("settled")) });
  await rig.clock.advance("1s");
  assert.deepEqual(rig.calls, []);
  resolve();
  await rig.clock.drain();
  assert.deepEqual(rig.calls, ["settled", "done"]);
});

test("a slow callback holds neither worker nor gate", async (t) => {
  const rig = await Rig.open(t, { workers: 1 });
  const never = new Promise(() => {});
  const indexers = [indexer("a", { interval: 0 })];
  rig.submit({ indexers, onComplete: () => never });
  rig.submit({ indexers });
  rig.submit({ indexers: [indexer("b")] });
  await rig.clock.advance("1s");
  assert.deepEqual(rig.statuses.sort(), ["a ok", "b ok"]);
  assert.equal((await rig.sluice.gate("indexer:a").info()).inFlight, 0);
});

test("a callback that throws is reported and stops nothing", async (t) => {
  const rig = await Rig.open(t);
  rig.submit({
    indexers: [indexer("a"), indexer("b")],
    onComplete: () => {
      throw new Error("mine");
    },
  });
  rig.submit({ onJobDone: () => Promise.reject(new Error("mine too")), indexers: [indexer("c")] });
  await rig.clock.advance("1s");
  assert.deepEqual(rig.errors.map(String).sort(), [
    "Error: mine",
    "Error: mine",
    "Error: mine too",
  ]);
  assert.equal(rig.done.length, 1);
  assert.deepEqual(rig.statuses, ["c ok"]);
});

test("a signal ends queued tasks at once and aborts the running ones", async (t) => {
  const rig = await Rig.open(t);
  const aborts: string[] = [];
  rig.answer = async (one, _, { signal }) => {
    signal.addEventListener("abort", () => aborts.push(one.id));
    await rig.pass(60_000, signal);
    return { results: [] };
  };
  const controller = new AbortController();
  const indexers = [indexer("a"), indexer("a"), indexer("b")];
  rig.submit({ indexers, signal: controller.signal });
  await rig.clock.advance("1s");
  assert.equal(rig.started.length, 2);
  controller.abort();
  await rig.clock.drain();
  assert.deepEqual(rig.statuses.sort(), ["a cancelled", "a cancelled", "b cancelled"]);
  assert.deepEqual(aborts.sort(), ["a", "b"]);
  assert.equal(rig.calls.at(-1), "done");
  // An aborted search is not a failure of its indexer.
  assert.equal((await rig.sluice.gate("indexer:a").info()).ladderStep, 0);
  assert.deepEqual(rig.errors, []);
});

test("sends no requests if aborted already, or before the batch has left", async (t) => {
  const rig = await Rig.open(t);
  const controller = new AbortController();
  rig.submit({ signal: AbortSignal.abort() });
  rig.submit({ signal: controller.signal });
  controller.abort();
  await rig.clock.advance("1m");
  assert.deepEqual(rig.statuses, ["a cancelled", "a cancelled"]);
  assert.equal(rig.done.length, 2);
  assert.deepEqual(rig.started, []);
});

test("the same feed while it is pending is deduplicated, another one is not", async (t) => {
  const rig = await Rig.open(t);
  rig.tookMs = 1_000;
  const rss = { priority: "rss", maxWait: Infinity } as const;
  rig.submit({ ...rss, params: { q: "", cat: [1, 2] } });
  rig.submit({ ...rss, params: { cat: [1, 2] } });
  rig.submit({ ...rss, params: { cat: [3] } });
  rig.submit({ ...rss, params: { cat: [1, 2] }, indexers: [indexer("b")] });
  rig.submit({ priority: "interactive", params: { cat: [1, 2] } });
  await rig.clock.advance(10);
  // The duplicate is reported at once, while the first search runs.
  assert.deepEqual(rig.statuses, ["a deduplicated"]);
  rig.submit({ ...rss, params: { cat: [1, 2] } });
  await rig.clock.advance("5m");
  assert.deepEqual(rig.statuses.filter((line) => line === "a deduplicated").length, 2);
  assert.equal(rig.started.length, 4);
  assert.equal(rig.done.length, 6);
  // Once it is over, the feed may be fetched again.
  rig.submit({ ...rss, params: { cat: [1, 2] } });
  await rig.clock.advance("5m");
  assert.equal(rig.started.length, 5);
});

test("a handler that throws gives slot and gate back", async (t) => {
  const rig = await Rig.open(t, { workers: 1 });
  rig.answer = () => {
    throw new Error("a bug");
  };
  rig.submit({ indexers: [indexer("a", { interval: 0 }), indexer("a", { interval: 0 })] });
  await rig.clock.advance("1s");
  assert.deepEqual(rig.statuses, ["a error", "a error"]);
  const gate = await rig.sluice.gate("indexer:a").info();
  assert.deepEqual([gate.inFlight, gate.ladderStep], [0, 0]);
});

test("stop: queued tasks end as stopped, running ones may end, submits are refused", async (t) => {
  const rig = await Rig.open(t, { workers: 1 });
  rig.tookMs = 1_000;
  rig.submit({ indexers: [indexer("a"), indexer("b")] });
  await rig.clock.advance(10);
  rig.submit({ indexers: [indexer("c")] });
  const stopped = rig.scheduler.stop({ timeout: 5_000 });
  await rig.clock.advance(0);
  assert.deepEqual(rig.statuses.sort(), ["b stopped", "c stopped"]);
  assert.throws(() => rig.submit(), { code: "CLOSED" });
  await rig.clock.advance("1s");
  await stopped;
  assert.deepEqual(rig.statuses.sort(), ["a ok", "b stopped", "c stopped"]);
  assert.equal(rig.done.length, 2);
});

test("stop: tasks that run longer than the timeout are aborted", async (t) => {
  const rig = await Rig.open(t);
  rig.tookMs = 60_000;
  rig.submit();
  await rig.clock.advance(10);
  const stopped = rig.scheduler.stop({ timeout: 5_000 });
  await rig.clock.advance("5s");
  await stopped;
  assert.deepEqual(rig.statuses, ["a stopped"]);
  assert.equal(rig.atMs, 5_010);
  assert.equal(rig.done.length, 1);
});

test("random endings: each callback once, the job's last", async (t) => {
  const rig = await Rig.open(t);
  rig.answer = async ({ id }, _, { signal }) => {
    const n = Number(id.slice(1));
    await rig.pass(n * 37, signal);
    if (n % 3 === 0) throw new Error("odd");
    return { results: n % 2 === 0 ? ["a"] : [] };
  };
  const log = new Map<string, string[]>();
  const controllers: AbortController[] = [];
  for (let i = 0; i < 200; i++) {
    const controller = new AbortController();
    controllers.push(controller);
    const lines: string[] = [];
    const indexers = Array.from({ length: (i % 5) + 1 }, (_, n) => indexer(`i${(i * 7 + n) % 23}`));
    const priority = (["interactive", "rss", "completion", "background"] as const)[i % 4]!;
    const id = rig.submit({
      indexers,
      priority,
      params: i % 11,
      signal: controller.signal,
      onComplete: ({ indexer: { id: from } }) => void lines.push(from),
      onJobDone: () => void lines.push("done"),
    });
    log.set(id, lines);
    if (i % 6 === 0) await rig.clock.advance(90);
    if (i % 9 === 0) controllers[Math.floor(i / 2)]!.abort();
  }
  await rig.clock.advance("2m");
  await rig.scheduler.stop({ timeout: 0 });
  let i = 0;
  for (const lines of log.values()) {
    assert.equal(lines.length, (i % 5) + 2);
    assert.equal(lines.indexOf("done"), lines.length - 1);
    i++;
  }
});

test("if a whole burst is skipped, every submit gets a report with the reason", async (t) => {
  const rig = await Rig.open(t);
  await rig.sluice.gate("indexer:a").cooldown("1h", "a test");
  for (let i = 0; i < 3_000; i++) rig.submit({ priority: "rss", params: i });
  await rig.clock.advance("1s");
  const counts = Object.groupBy(rig.statuses, (line) => line);
  assert.equal(counts["a rate_limited"]?.length, 3_000);
  assert.equal(rig.done.length, 3_000);
});

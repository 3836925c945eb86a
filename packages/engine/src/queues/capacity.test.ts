import assert from "node:assert/strict";
import { test } from "node:test";
import { Refusal } from "../errors.ts";
import { each, fill, openEngine, type QueueChange } from "../testing/test-engine.ts";

const FULL = { code: "QUEUE_FULL", details: { queue: "q", retryAfterMs: 1000 } };

test("a full queue refuses, counts it, and takes jobs again when there is room", () => {
  for (const onFull of ["reject", "wait"] as const) {
    const engine = openEngine({ capacity: { jobs: 2 }, onFull });
    fill(engine, 2);
    assert.throws(() => engine.add("q", {}, 0), FULL);
    assert.equal(engine.queries.queueStats("q").waiting, 2);
    assert.equal(engine.queries.queueStats("q").rejected, onFull === "wait" ? 0 : 1);
    if (onFull === "wait") engine.countRejected("q");
    assert.equal(engine.queries.queueStats("q").rejected, 1, "who waits says when it was in vain");
    engine.cancel(1, 0);
    assert.equal(engine.add("q", {}, 0).id, 3, "no id was used up");
  }
});

test("drop: the add is answered as dropped, without an id, and counted", () => {
  const engine = openEngine({ capacity: { jobs: 1 }, onFull: "drop" });
  fill(engine, 1);
  assert.deepEqual(engine.add("q", {}, 0), { id: 0, dropped: true, tier: 3 });
  const { waiting, dropped, rejected } = engine.queries.queueStats("q");
  assert.deepEqual({ waiting, dropped, rejected }, { waiting: 1, dropped: 1, rejected: 0 });
});

test("gated jobs count, delayed and leased ones do not", () => {
  const engine = openEngine({ capacity: { jobs: 2 } });
  engine.setGate("shut", { rate: 0 }, 0);
  fill(engine, 1, { gates: ["shut"] });
  fill(engine, 3, { delayMs: 10 });
  fill(engine, 1);
  assert.throws(() => engine.add("q", {}, 0), FULL);
  engine.lease("q", 1, 0);
  fill(engine, 1);
  assert.throws(() => engine.add("q", {}, 0), FULL);
});

test("bytes: a job must fit into what is left, to the byte", () => {
  const engine = openEngine({ capacity: { bytes: 100 } });
  fill(engine, 1, { sizeBytes: 60 });
  assert.throws(() => engine.add("q", { sizeBytes: 41 }, 0), FULL);
  fill(engine, 1, { sizeBytes: 40 });
  fill(engine, 1, { sizeBytes: 0 });
  assert.throws(() => engine.add("q", { sizeBytes: 1 }, 0), FULL);
  engine.cancel(1, 0);
  assert.equal(engine.queries.queueStats("q").bytes, 40);
  fill(engine, 1, { sizeBytes: 60 });
});

test("perLane: each key has its own room, over all tiers", () => {
  const engine = openEngine({ capacity: { perLane: 2 } });
  fill(engine, 1, { fairnessKey: "a", priority: 0 });
  fill(engine, 1, { fairnessKey: "a" });
  assert.throws(() => engine.add("q", { fairnessKey: "a", priority: 1 }, 0), FULL);
  fill(engine, 2, { fairnessKey: ["a", "b"] });
  assert.throws(() => engine.add("q", { fairnessKey: ["a", "b"] }, 0), FULL);
  assert.throws(() => engine.add("q", { fairnessKey: "a" }, 0), FULL, "the key is a level now");
  fill(engine, 2);
  assert.throws(() => engine.add("q", {}, 0), FULL, "jobs without a key are one lane");
});

test("a tier's perLane: only a lane that has its part is refused, and it does not spill", () => {
  const tiers = [
    { name: "fast", capacity: 4, perLane: 2 },
    { name: "slow", perLane: 3 },
  ];
  const engine = openEngine({ tiers, onFull: "spill" });
  fill(engine, 2, { fairnessKey: "a", priority: 0 });
  assert.throws(() => engine.add("q", { fairnessKey: "a", priority: 0 }, 0), FULL);
  fill(engine, 2, { fairnessKey: "b", priority: 0 });
  assert.equal(engine.add("q", { fairnessKey: "a", priority: 0 }, 0).tier, 1, "the tier is full");
  fill(engine, 2, { fairnessKey: "a" });
  assert.throws(() => engine.add("q", { fairnessKey: "a" }, 0), FULL);
  fill(engine, 3, { fairnessKey: "b" });
});

test("perLane: without fairness there is one lane", () => {
  const engine = openEngine({ capacity: { perLane: 2 }, fairness: false });
  fill(engine, 1, { fairnessKey: "a" });
  fill(engine, 1, { fairnessKey: "b" });
  assert.throws(() => engine.add("q", { fairnessKey: "c" }, 0), FULL);
});

test("a tier may have its own capacity", () => {
  const engine = openEngine({ tiers: [{ capacity: 1 }, {}] });
  fill(engine, 1, { priority: 0 });
  assert.throws(() => engine.add("q", { priority: 0 }, 0), FULL);
  fill(engine, 5, { priority: 1 });
});

test("spill: a job goes to the next tier that has room, or where its tier says", () => {
  const tiers = [{ capacity: 1, spillTo: 2 }, { capacity: 1 }, { capacity: 2 }, { capacity: 1 }];
  const engine = openEngine({ tiers, onFull: "spill" });
  const tierOf = (priority: number): number => engine.add("q", { priority }, 0).tier;
  assert.deepEqual([tierOf(0), tierOf(0), tierOf(1), tierOf(1), tierOf(0)], [0, 2, 1, 2, 3]);
  assert.throws(() => tierOf(0), FULL, "nothing is left below");
  assert.equal(engine.queries.job(2)?.tier, 2);
});

test("spill: refuses a job if the queue as a whole has no room", () => {
  const engine = openEngine({ capacity: { jobs: 1 }, onFull: "spill" });
  fill(engine, 1, { priority: 0 });
  assert.throws(() => engine.add("q", { priority: 0 }, 0), FULL);
});

test("delayed jobs have a capacity of their own", () => {
  const engine = openEngine({ capacity: { delayed: 2 } });
  fill(engine, 1, { delayMs: 10 });
  fill(engine, 1, { runAt: 10 });
  assert.throws(() => engine.add("q", { delayMs: 10 }, 0), FULL);
  fill(engine, 1, { runAt: 0 });
  assert.equal(engine.queries.queueStats("q").waiting, 1, "a time that has come is no delay");
});

test("leased: no more than so many go out at once, and each end lets the next one out", () => {
  const engine = openEngine({ capacity: { running: 2 } });
  fill(engine, 4);
  engine.want("q", "w", 9, 0);
  const leases = engine.dispatch(0);
  assert.equal(leases.length, 2);
  assert.deepEqual(engine.dispatch(0), []);
  assert.equal(engine.queries.why(3, 0).state, "waiting");
  engine.ack(leases[0]!.id, leases[0]!.lease, 0);
  assert.equal(engine.nextWake(0), 0);
  assert.deepEqual(each(engine.dispatch(0), "id"), [3]);
});

test("a delayed job that falls due on a full queue is put off, never lost", () => {
  const limits: QueueChange[] = [
    { capacity: { jobs: 1 } },
    { capacity: { bytes: 10 } },
    { tiers: [{ capacity: 1 }] },
  ];
  for (const limit of limits) {
    const engine = openEngine({ ...limit, fullRetryMs: 500 });
    fill(engine, 1, { sizeBytes: 10, delayMs: 100 });
    fill(engine, 1, { sizeBytes: 10 });
    engine.tick(100);
    assert.deepEqual([engine.queries.job(1)?.state, engine.queries.job(1)?.at], ["delayed", 600]);
    engine.cancel(2, 600);
    engine.tick(600);
    assert.equal(engine.queries.job(1)?.state, "waiting");
  }
});

test("a retry is never refused and never put off", () => {
  const engine = openEngine({ capacity: { jobs: 1, delayed: 0 } });
  fill(engine, 1);
  const [lease] = engine.lease("q", 1, 0);
  fill(engine, 1);
  engine.nack(1, lease!.lease, 0, { delayMs: 10 });
  assert.equal(engine.queries.job(1)?.state, "delayed");
  engine.tick(10);
  assert.equal(engine.queries.queueStats("q").waiting, 2);
});

test("admission: from a fill level on, adds are held to a rate", () => {
  const admission = { fill: 0.5, rate: 2, burst: 2 };
  const engine = openEngine({ capacity: { jobs: 10 }, admission });
  fill(engine, 5);
  fill(engine, 2);
  assert.throws(() => engine.add("q", {}, 100), {
    code: "RATE_LIMITED",
    details: { queue: "q", retryAfterMs: 400 },
  });
  assert.equal(engine.queries.queueStats("q").rejected, 1);
  assert.equal(engine.queries.queueStats("q").waiting, 7);
  assert.equal(engine.add("q", {}, 500).id, 8);
  for (let id = 1; id <= 4; id++) engine.cancel(id, 500);
  engine.add("q", {}, 500);
  assert.throws(() => engine.add("q", {}, 500), { code: "RATE_LIMITED" });
  engine.cancel(5, 500);
  assert.equal(engine.add("q", {}, 500).id, 10, "below the level nothing is held back");
});

test("admission that is switched on later starts with a full bucket", () => {
  const engine = openEngine({ capacity: { jobs: 10 } });
  fill(engine, 1);
  engine.setQueue("q", { admission: { fill: 0, rate: 0.5, burst: 1 } }, 100_000);
  assert.equal(engine.add("q", {}, 100_000).id, 2);
  const results = engine.addAll("q", [{}, {}], 102_000);
  assert.deepEqual(
    results.map((result) => (result instanceof Refusal ? result.code : result.id)),
    [3, "RATE_LIMITED"],
  );
  engine.setQueue("q", { leaseMs: 5 }, 102_000);
  assert.throws(() => engine.add("q", {}, 102_000), {
    details: { queue: "q", retryAfterMs: 2000 },
  });
});

test("admission: parts of a token make a whole one, to the millisecond", () => {
  const engine = openEngine({ capacity: { jobs: 100 }, admission: { fill: 0, rate: 2, burst: 2 } });
  fill(engine, 2);
  engine.add("q", {}, 952);
  // 952 ms bring 1.904 tokens, of which 0.904 are left; the other 0.096 take 48 ms.
  assert.throws(() => engine.add("q", {}, 999), {
    code: "RATE_LIMITED",
    details: { queue: "q", retryAfterMs: 1 },
  });
  assert.equal(engine.add("q", {}, 1000).id, 4);
});

test("admission: a new rate counts from when it is set, and keeps the level", () => {
  const engine = openEngine({ capacity: { jobs: 100 }, admission: { fill: 0, rate: 1, burst: 2 } });
  fill(engine, 2);
  engine.setQueue("q", { admission: { fill: 0, rate: 10, burst: 2 } }, 500);
  assert.throws(() => engine.add("q", {}, 500), { details: { queue: "q", retryAfterMs: 50 } });
  assert.equal(engine.add("q", {}, 550).id, 3);
  engine.setQueue("q", { admission: null } as object, 550);
  assert.equal(engine.add("q", {}, 550).id, 4);
});

test("a job run by hand must find room like one that is added, whatever the policy", () => {
  for (const onFull of ["reject", "drop", "spill"] as const) {
    const engine = openEngine({ capacity: { jobs: 2, bytes: 100 }, onFull });
    engine.add("q", { sizeBytes: 60 }, 0);
    engine.cancel(1, 0);
    fill(engine, 2);
    assert.throws(() => engine.retry(1, 0), FULL);
    engine.cancel(2, 0);
    assert.equal(engine.queries.job(1)?.state, "cancelled");
    engine.add("q", { sizeBytes: 41, delayMs: 5 }, 0);
    engine.retry(4, 0);
    engine.cancel(3, 0);
    assert.throws(() => engine.retry(1, 0), FULL, "59 bytes are left");
    engine.cancel(4, 0);
    engine.retry(1, 0);
    assert.equal(engine.queries.job(1)?.state, "waiting");
    assert.equal(engine.queries.queueStats("q").rejected, 0, "only adds are counted");
  }
});

test("a job run by hand counts for its lane and its tier", () => {
  const lane = openEngine({ capacity: { perLane: 1 } });
  lane.add("q", { fairnessKey: "a", priority: 1 }, 0);
  lane.cancel(1, 0);
  lane.add("q", { fairnessKey: "a", priority: 2 }, 0);
  assert.throws(() => lane.retry(1, 0), FULL, "a key has one limit over all tiers");
  const tier = openEngine({ tiers: [{ name: "t", capacity: 1 }, { name: "u" }], onFull: "spill" });
  tier.add("q", { priority: 0 }, 0);
  tier.cancel(1, 0);
  tier.add("q", { priority: 0 }, 0);
  assert.throws(() => tier.retry(1, 0), FULL, "it goes back to its tier and no other");
});

test("a delayed job is hastened if there is room, a retry always", () => {
  const engine = openEngine({ capacity: { jobs: 1 }, retry: { minMs: 50, jitter: 0 } });
  engine.add("q", { delayMs: 50 }, 0);
  fill(engine, 1);
  assert.throws(() => engine.retry(1, 0), FULL);
  assert.equal(engine.queries.job(1)?.state, "delayed");
  const { id, lease } = engine.lease("q", 1, 0)[0]!;
  engine.nack(id, lease, 0);
  engine.retry(1, 0);
  engine.retry(id, 0);
  assert.equal(engine.queries.queueStats("q").waiting, 2);
});

test("a payload that replaces another must fit as well", () => {
  const dedupe = { key: "k", mode: "replace" as const };
  for (const onFull of ["reject", "drop"] as const) {
    const engine = openEngine({ capacity: { bytes: 100 }, onFull });
    engine.add("q", { dedupe, sizeBytes: 50, body: "a" }, 0);
    engine.add("q", { sizeBytes: 50 }, 0);
    const larger = { dedupe, sizeBytes: 51, body: "b" };
    if (onFull === "reject") assert.throws(() => engine.add("q", larger, 0), FULL);
    else assert.deepEqual(engine.add("q", larger, 0), { id: 0, dropped: true, tier: 3 });
    assert.equal(engine.queries.job(1)?.body, "a", "it keeps what it had");
    const { bytes, rejected, dropped } = engine.queries.queueStats("q");
    assert.deepEqual([bytes, rejected + dropped], [100, 1]);
    engine.cancel(2, 0);
    assert.equal(engine.add("q", larger, 0).duplicate, true);
    assert.equal(engine.queries.queueStats("q").bytes, 51);
  }
});

test("a payload that shrinks fits always, and one of a delayed job is not counted yet", () => {
  const dedupe = { key: "k", mode: "replace" as const };
  const engine = openEngine({ capacity: { bytes: 100 } });
  engine.add("q", { dedupe, sizeBytes: 60 }, 0);
  engine.setQueue("q", { capacity: { bytes: 10 } }, 0);
  assert.equal(engine.add("q", { dedupe, sizeBytes: 50 }, 0).duplicate, true);
  engine.add("q", { dedupe: { ...dedupe, key: "d" }, delayMs: 9, sizeBytes: 5 }, 0);
  const grown = { dedupe: { ...dedupe, key: "d" }, delayMs: 9, sizeBytes: 500 };
  assert.equal(engine.add("q", grown, 0).duplicate, true);
});

test("a waiting job is put off by a debounce only where there is room among the delayed", () => {
  const engine = openEngine({ capacity: { delayed: 1 } });
  const dedupe = { key: "k", mode: "debounce" as const };
  engine.add("q", { dedupe, delayMs: 5, body: "a" }, 0);
  engine.tick(5);
  engine.add("q", { delayMs: 50 }, 5);
  assert.throws(() => engine.add("q", { dedupe, delayMs: 5, body: "b" }, 5), FULL);
  assert.deepEqual([engine.queries.job(1)?.state, engine.queries.job(1)?.body], ["waiting", "a"]);
});

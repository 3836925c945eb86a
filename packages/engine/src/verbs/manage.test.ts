import assert from "node:assert/strict";
import { test } from "node:test";
import { each, fill, openTelling, type TestEngine } from "../testing/test-engine.ts";

/** Ticks until nothing is left to do; answers how many it took. */
function settle(engine: TestEngine, now: number): number {
  let ticks = 0;
  for (; engine.nextWake(now) <= now; ticks++) {
    assert.ok(ticks < 1000, "there is no end of it");
    engine.dispatch(now);
  }
  return ticks;
}

test("a queue is created with its defaults, and changed in what is named only", () => {
  const { engine, facts } = openTelling({ leaseMs: 5 });
  engine.setQueue("q", { weight: 3 }, 1);
  const config = engine.queueConfig("q");
  assert.deepEqual([config.leaseMs, config.weight, config.dlq], [5, 3, "q.dlq"]);
  assert.deepEqual(facts.at(-1), { at: 1, fact: "queue", name: "q", config });
  assert.deepEqual(engine.queries.queueNames(), ["q"]);
});

test("a paused queue takes jobs and gives none out until it is resumed", () => {
  const { engine } = openTelling();
  engine.want("q", "w", 9, 0);
  engine.pause("q", 0);
  fill(engine, 2);
  assert.deepEqual(engine.dispatch(0), []);
  assert.equal(engine.nextWake(0), Number.POSITIVE_INFINITY);
  assert.equal(engine.queries.queueStats("q").paused, true);
  engine.resume("q", 5);
  assert.equal(engine.nextWake(5), 5);
  assert.equal(engine.dispatch(5).length, 2);
});

test("tiers can be added, and their order can change while jobs wait", () => {
  const { engine } = openTelling({ tiers: ["a", "b"] });
  fill(engine, 4, { priority: 0, body: 0 });
  fill(engine, 4, { priority: 1, body: 1 });
  const take = (count: number): unknown[] => engine.lease("q", count, 0).map(({ body }) => body);
  engine.setQueue("q", { tierOrder: [1, 1] }, 0);
  assert.deepEqual(take(4).toSorted(), [0, 0, 1, 1]);
  engine.setQueue("q", { tiers: ["a", "b", "c"], tierOrder: [1, 1, 8] }, 0);
  fill(engine, 2, { priority: "c", body: 2 });
  assert.deepEqual(take(3).toSorted(), [0, 1, 2]);
  engine.setQueue("q", { tierOrder: "strict" }, 0);
  assert.deepEqual(take(9), [0, 1, 2]);
});

test("a purge removes what waits or is delayed and leaves leases, kept jobs and newer jobs", () => {
  const { engine, facts } = openTelling();
  engine.setQueue("other", {}, 0);
  fill(engine, 3);
  fill(engine, 2, { delayMs: 50 });
  fill(engine, 1, {}, "other");
  const [a, b] = engine.lease("q", 2, 0);
  engine.ack(a!.id, a!.lease, 0);
  engine.purge("q", 10);
  const purged = facts.find(({ fact }) => fact === "purged");
  assert.deepEqual(purged, { at: 10, fact: "purged", name: "q", upTo: 7 });
  assert.deepEqual(facts.at(-1), { at: 10, fact: "purge-ended", name: "q" });
  engine.add("q", {}, 10);
  settle(engine, 10);
  const { waiting, delayed, running, cancelled } = engine.queries.queueStats("q");
  assert.deepEqual([waiting, delayed, running, cancelled], [1, 0, 1, 3]);
  assert.equal(engine.queries.job(3)?.state, "cancelled");
  assert.equal(engine.queries.job(a!.id)?.state, "finished");
  assert.equal(engine.queries.queueStats("other").waiting, 1);
  engine.nack(b!.id, b!.lease, 10, { delayMs: 1 });
  settle(engine, 11);
  assert.equal(engine.queries.job(b!.id)?.state, "waiting", "a lease that comes back stays");
});

test("a large purge is spread over calls, and what it has yet to reach does not go out", () => {
  const { engine } = openTelling({ results: { jobs: 0 } });
  fill(engine, 25_000, { ttlMs: 1000 });
  fill(engine, 10, { delayMs: 1000, ttlMs: 5000 });
  engine.want("q", "w", 100, 0);
  engine.purge("q", 0);
  engine.add("q", { body: "new" }, 0);
  const leases = engine.dispatch(0);
  assert.ok(engine.queries.queueStats("q").waiting > 0, "one call does not do it all");
  assert.equal(engine.nextWake(0), 0);
  leases.push(...engine.dispatch(1000));
  settle(engine, 1000);
  const { waiting, delayed, cancelled, expired, dispatched } = engine.queries.queueStats("q");
  assert.deepEqual([waiting, delayed, cancelled, expired, dispatched], [0, 0, 25_010, 0, 1]);
  assert.ok(leases.every(({ body }) => body === "new"));
});

test("a job given back during a purge was not waiting when the purge was called for", () => {
  const { engine } = openTelling();
  fill(engine, 3000);
  const [lease] = engine.lease("q", 1, 0);
  engine.purge("q", 0);
  engine.giveBack(lease!.id, lease!.lease, 0);
  settle(engine, 0);
  assert.equal(engine.queries.job(lease!.id)?.state, "waiting");
  assert.equal(engine.queries.queueStats("q").waiting, 1);
});

test("a job whose deadline had passed when the queue was purged counts as expired", () => {
  const { engine } = openTelling();
  fill(engine, 1, { ttlMs: 10 });
  fill(engine, 1, { ttlMs: 30 });
  engine.purge("q", 20);
  settle(engine, 20);
  assert.deepEqual(
    [engine.queries.job(1)?.state, engine.queries.job(2)?.state],
    ["expired", "cancelled"],
  );
});

test("a second purge before the first is done takes what came in between", () => {
  const { engine } = openTelling();
  fill(engine, 2000);
  engine.purge("q", 0);
  fill(engine, 2000);
  engine.purge("q", 0);
  fill(engine, 5);
  settle(engine, 0);
  assert.equal(engine.queries.queueStats("q").waiting, 5);
});

test("a deleted queue is gone at once, its name is free, and no worker gets its jobs", () => {
  const { engine, facts } = openTelling();
  fill(engine, 3, { fairnessKey: ["a", "b"] });
  fill(engine, 1, { delayMs: 5 });
  engine.want("q", "w", 9, 0);
  const [lease] = engine.dispatch(0, 1);
  engine.deleteQueue("q", 0);
  assert.deepEqual(facts.at(-1), { at: 0, fact: "queue-deleted", name: "q" });
  assert.deepEqual(engine.queries.queueNames(), []);
  assert.equal(engine.queries.job(2), undefined);
  assert.deepEqual(engine.queries.history(2), []);
  assert.throws(() => engine.ack(lease!.id, lease!.lease, 0), { code: "ALREADY_FINISHED" });
  engine.setQueue("q", {}, 0);
  engine.want("q", "w", 9, 0);
  fill(engine, 1, { body: "new" });
  const bodies = engine.dispatch(0).map(({ body }) => body);
  assert.deepEqual(bodies, ["new"]);
  settle(engine, 10);
  assert.equal(engine.queries.queueStats("q").running, 1);
});

test("the jobs of a deleted queue go step by step and give back the permits they held", () => {
  const { engine } = openTelling();
  engine.setGate("one", { concurrency: 1 }, 0);
  fill(engine, 5000, { gates: ["one"] });
  fill(engine, 3);
  for (const { id, lease } of engine.lease("q", 2, 0)) if (id > 1) engine.ack(id, lease, 0);
  assert.equal(engine.queries.gateStats("one", 0).inFlight, 1);
  engine.deleteQueue("q", 0);
  const before = engine.queries.steps;
  engine.tick(0);
  assert.ok(engine.queries.steps - before < 11_000);
  settle(engine, 0);
  assert.deepEqual(engine.queries.gateStats("one", 0).inFlight, 0);
  assert.equal(engine.nextWake(0), Number.POSITIVE_INFINITY, "nothing of it is left");
});

test("nothing of a deleted queue's lanes and paths is seen by a queue made after it", () => {
  const { engine } = openTelling({ tierOrder: [1, 1, 1, 1] });
  for (let i = 0; i < 50; i++) engine.add("q", { fairnessKey: ["acme", `u${i}`], weight: 7 }, 0);
  for (const { id, lease } of engine.lease("q", 25, 0)) engine.giveBack(id, lease, 0);
  engine.deleteQueue("q", 0);
  settle(engine, 0);
  const lanesBytes: number[] = [];
  for (let round = 0; round < 3; round++) {
    engine.setQueue("q", {}, 0);
    assert.deepEqual(engine.queries.lanes("q").lanes, []);
    for (let i = 0; i < 50; i++) engine.add("q", { fairnessKey: ["acme", `u${i}`] }, 0);
    assert.equal(engine.queries.lanes("q").lanes.length, 50);
    assert.ok(engine.queries.lanes("q").lanes.every((lane) => lane.weight === 1));
    assert.equal(engine.lease("q", 100, 0).length, 50);
    engine.deleteQueue("q", 0);
    settle(engine, 0);
    lanesBytes.push(engine.queries.memory().lanes);
  }
  assert.equal(new Set(lanesBytes).size, 1, "and nothing of it is left behind");
});

test("a path that a deleted queue used is made again, in its tier, for the next queue", () => {
  const { engine } = openTelling();
  fill(engine, 1, { fairnessKey: ["acme", "u"] });
  engine.deleteQueue("q", 0);
  settle(engine, 0);
  engine.setQueue("r", {}, 0);
  for (const priority of [3, 2, 1, 0]) {
    fill(engine, 1, { fairnessKey: ["acme", "u"], priority }, "r");
  }
  const tiers = engine.queries.lanes("r").lanes.map((lane) => lane.tier);
  assert.deepEqual(tiers.toSorted(), [0, 1, 2, 3]);
});

test("a lowered limit of kept jobs forgets the oldest, and none runs again meanwhile", () => {
  const { engine } = openTelling({ results: { jobs: 2000 } });
  fill(engine, 1000);
  for (let id = 1; id <= 1000; id++) engine.cancel(id, 0);
  engine.setQueue("q", { results: { jobs: 2 } }, 0);
  assert.throws(() => engine.retry(1000, 0), { code: "CONFLICT" });
  settle(engine, 0);
  assert.equal(engine.queries.queueStats("q").kept, 2);
  assert.equal(engine.queries.job(998), undefined);
  engine.retry(999, 0);
  assert.equal(engine.queries.job(999)?.state, "waiting");
});

test("a job that was added after a purge goes out while the purge is under way", () => {
  const { engine } = openTelling({ tiers: 2, results: { jobs: 0 } });
  fill(engine, 25_000, { priority: 1 });
  engine.purge("q", 0);
  const { id } = engine.add("q", { priority: 0 }, 0);
  engine.want("q", "w", 1, 0);
  const leases = engine.dispatch(0);
  assert.ok(engine.queries.queueStats("q").waiting > 0, "the purge is under way");
  assert.deepEqual(each(leases, "id"), [id]);
});

test("a purge ends with its queue, and jobs of a queue that is made again are not purged", () => {
  const { engine } = openTelling({ results: { jobs: 0 } });
  fill(engine, 25_000);
  engine.purge("q", 0);
  engine.deleteQueue("q", 0);
  settle(engine, 0);
  engine.setQueue("q", {}, 0);
  fill(engine, 2);
  settle(engine, 0);
  assert.equal(engine.queries.queueStats("q").waiting, 2);
});

test("a lane whose weight a job has set keeps it when the policy changes", () => {
  const { engine } = openTelling();
  fill(engine, 20, { fairnessKey: "own", weight: 3 });
  fill(engine, 20, { fairnessKey: "other" });
  engine.setQueue("q", { weights: { own: 1, other: 1 } }, 0);
  settle(engine, 0);
  const ids = engine.lease("q", 16, 0).map(({ id }) => id);
  assert.equal(ids.filter((id) => id <= 20).length, 12, "three to one");
});

test("a queue has so many weights of lanes; those that are there may still change", () => {
  const weights = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 2]));
  const { engine } = openTelling({ weights });
  assert.throws(() => engine.setLaneWeight("q", "one more", 2, 0), { code: "INVALID" });
  engine.setLaneWeight("q", "k7", 5, 0);
  assert.equal(engine.queueConfig("q").weights.k7, 5);
});

test("a letter that a purge has yet to reach does not go back to its queue", () => {
  const { engine } = openTelling({ retry: { attempts: 1 } });
  engine.setQueue("q.dlq", { retry: { attempts: 9 } }, 0);
  fill(engine, 3000);
  for (let i = 0; i < 3000; i++) {
    const [lease] = engine.lease("q", 1, 0);
    engine.nack(lease!.id, lease!.lease, 0);
  }
  const [leased] = engine.lease("q.dlq", 1, 0);
  engine.purge("q.dlq", 0);
  assert.equal(engine.redrive("q.dlq", { ids: [3000] }, 0), 0);
  assert.equal(engine.queries.job(3000)?.state, "cancelled");
  engine.nack(leased!.id, leased!.lease, 0, { delayMs: 50 });
  settle(engine, 0);
  assert.equal(engine.queries.job(leased!.id)?.state, "delayed", "a letter that was leased stays");
  assert.equal(engine.queries.queueStats("q.dlq").waiting, 0);
});

test("a queue keeps its tiers: fewer are refused, and nothing changes", () => {
  const { engine } = openTelling({ tiers: ["a", "b"] });
  assert.throws(() => engine.setQueue("q", { tiers: ["a"], leaseMs: 5 }, 0), {
    code: "INVALID",
    message: /at least 2/,
  });
  assert.deepEqual(each(engine.queueConfig("q").tiers, "name"), ["a", "b"]);
  assert.notEqual(engine.queueConfig("q").leaseMs, 5);
});

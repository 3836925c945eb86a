import assert from "node:assert/strict";
import { test } from "node:test";
import { open, takeOne } from "../properties/one-queue.ts";
import { each, TestEngine } from "../testing/test-engine.ts";

/** Does all that can be done now; answers how many calls it took and how many jobs went out. */
function settle(engine: TestEngine, now: number): { calls: number; dispatched: number } {
  let calls = 0;
  let dispatched = 0;
  for (; engine.nextWake(now) <= now; calls++) {
    assert.ok(calls < 1000, "there is no end of it");
    dispatched += engine.dispatch(now).length;
  }
  return { calls, dispatched };
}

test("an engine with nothing to do wakes for nothing", () => {
  assert.equal(new TestEngine().nextWake(5), Number.POSITIVE_INFINITY);
  const { engine } = open();
  engine.add("q", {}, 0);
  assert.equal(engine.nextWake(5), Number.POSITIVE_INFINITY, "without a worker, only a call helps");
  engine.want("q", "w", 1, 5);
  assert.equal(engine.nextWake(5), 5, "with one, there is something to dispatch");
});

test("a caller that took what there was leaves nothing to wake for but its leases", () => {
  const { engine } = open({ leaseMs: 50 });
  engine.add("q", {}, 0);
  engine.lease("q", 5, 0);
  assert.equal(engine.nextWake(0), 50);
});

test("each thing that falls due is announced at its time", () => {
  const { engine } = open({ results: { ms: 60 }, leaseMs: 80, promoteAfterMs: 90 });
  engine.setGate("g", { rate: 1, burst: 1 }, 0);
  const wakes = (now: number): number => {
    engine.dispatch(now);
    return engine.nextWake(now);
  };
  engine.add("q", { gates: ["g"], priority: 0 }, 0);
  const [first] = engine.lease("q", 1, 0);
  assert.equal(wakes(0), 80, "a lease runs out");
  engine.ack(1, first!.lease, 10);
  assert.equal(wakes(10), 70, "a kept job is forgotten");
  engine.add("q", { delayMs: 5, priority: 0 }, 10);
  assert.equal(wakes(10), 15, "a delayed job is due");
  engine.cancel(2, 12);
  engine.add("q", { ttlMs: 1, priority: 0 }, 12);
  assert.equal(wakes(12), 13, "a deadline");
  engine.tick(13);
  engine.add("q", { priority: 1 }, 13);
  engine.tick(72);
  assert.equal(wakes(72), 73, "the next kept job");
  assert.equal(wakes(73), 103, "a promotion");
  engine.cancel(4, 74);
  engine.add("q", { priority: 0, gates: ["g"] }, 74);
  engine.lease("q", 1, 74);
  engine.tick(200);
  assert.equal(wakes(200), 1000, "a gate opens");
});

test("a waiting or delayed job ends as expired at its deadline, however it was given", () => {
  const { engine, facts } = open({ ttlMs: 500 });
  engine.setGate("shut", { rate: 0 }, 0);
  engine.add("q", { deadline: 300 }, 0);
  engine.add("q", { ttlMs: 200, gates: ["shut"] }, 0);
  engine.add("q", { ttlMs: 100, delayMs: 5000 }, 0);
  engine.add("q", {}, 0);
  for (const [at, id] of [
    [100, 3],
    [200, 2],
    [300, 1],
    [500, 4],
  ] as const) {
    engine.tick(at - 1);
    assert.notEqual(engine.queries.job(id)?.state, "expired");
    engine.tick(at);
    assert.equal(engine.queries.job(id)?.state, "expired");
    const ended = { at, fact: "ended", id, queue: "q", ending: "expired", blame: [] };
    assert.deepEqual(facts.at(-1), ended);
  }
  assert.equal(engine.queries.queueStats("q").expired, 4);
});

test("a job whose deadline has passed is never dispatched", () => {
  const { engine } = open();
  engine.add("q", { ttlMs: 10 }, 0);
  engine.add("q", { deadline: 5 }, 20);
  engine.want("q", "w", 9, 20);
  assert.deepEqual(engine.dispatch(20), []);
});

test("a leased job runs on past its deadline, and expires instead of being retried", () => {
  const { engine } = open({ leaseMs: 50 });
  for (let i = 0; i < 3; i++) engine.add("q", { deadline: 20 }, 0);
  const leases = engine.lease("q", 3, 0);
  engine.tick(30);
  assert.equal(engine.queries.queueStats("q").running, 3);
  engine.ack(1, leases[0]!.lease, 30);
  assert.equal(engine.queries.job(1)?.state, "finished");
  engine.giveBack(2, leases[1]!.lease, 30);
  engine.tick(30);
  assert.equal(engine.queries.job(2)?.state, "expired", "given back, it waits no more");
  engine.tick(50);
  assert.equal(engine.queries.job(3)?.state, "expired");
});

test("extending a lease moves its end", () => {
  const { engine, facts } = open({ leaseMs: 50 });
  engine.add("q", {}, 0);
  const { lease } = takeOne(engine);
  assert.equal(engine.extend(1, lease, 100, 40), 140);
  assert.deepEqual(facts.at(-1), { at: 40, fact: "extended", id: 1, until: 140 });
  engine.tick(139);
  assert.equal(engine.queries.job(1)?.at, 140);
  assert.equal(engine.extend(1, lease, 1, 139), 140, "it may get shorter, too");
  engine.tick(140);
  assert.equal(engine.queries.job(1)?.attempt, 1);
});

test("what waits long is promoted tier by tier, at the back of its lane there", () => {
  const { engine, facts } = open({ tiers: ["a", "b", "c"], promoteAfterMs: 100 });
  engine.setGate("shut", { rate: 0 }, 0);
  engine.add("q", { priority: 2, fairnessKey: "k", weight: 3, gates: ["shut"] }, 0);
  engine.add("q", { priority: 1, fairnessKey: "k", gates: ["shut"] }, 50);
  engine.tick(100);
  assert.deepEqual([engine.queries.job(1)?.tier, engine.queries.job(1)?.weight], [1, 3]);
  assert.deepEqual(facts.at(-1), { at: 100, fact: "promoted", id: 1, tier: 1 });
  engine.tick(150);
  assert.equal(engine.queries.job(2)?.tier, 0);
  engine.tick(200);
  assert.equal(engine.queries.job(1)?.tier, 0);
  engine.tick(10_000);
  assert.deepEqual(each(engine.queries.queueStats("q").perTier, "waiting"), [2, 0, 0]);
  engine.deleteGate("shut", 10_000);
  assert.deepEqual(each(engine.lease("q", 2, 10_000), "id"), [2, 1]);
  assert.deepEqual(engine.queries.history(1).slice(0, 3), [
    { at: 0, event: "added" },
    { at: 100, event: "promoted", detail: "b" },
    { at: 200, event: "promoted", detail: "a" },
  ]);
});

test("jobs of one strand that are promoted in one moment keep their order", () => {
  const { engine } = open({ tiers: 2, promoteAfterMs: 100 });
  for (let id = 1; id <= 3; id++) engine.add("q", { priority: 1 }, 0);
  const [first, second] = engine.lease("q", 2, 50);
  engine.cancel(3, 50);
  engine.add("q", { priority: 1 }, 50);
  engine.nack(1, first!.lease, 50, { delayMs: 0 });
  engine.giveBack(2, second!.lease, 50);
  engine.tick(150);
  assert.deepEqual(
    engine.lease("q", 3, 150).map(({ id, tier }) => [id, tier]),
    [
      [2, 0],
      [4, 0],
      [1, 0],
    ],
  );
});

test("a promotion that is switched off before it comes does not come", () => {
  const { engine } = open({ tiers: 2, promoteAfterMs: 100 });
  engine.add("q", { priority: 1 }, 0);
  engine.setQueue("q", { promoteAfterMs: null }, 50);
  engine.tick(200);
  assert.equal(engine.queries.job(1)?.tier, 1);
});

test("the earlier of deadline and promotion comes first", () => {
  const { engine } = open({ tiers: 2, promoteAfterMs: 100 });
  engine.add("q", { priority: 1, ttlMs: 150 }, 0);
  engine.add("q", { priority: 1, ttlMs: 50 }, 0);
  engine.tick(100);
  assert.equal(engine.queries.job(1)?.tier, 0);
  assert.equal(engine.queries.job(2)?.state, "expired");
  engine.tick(150);
  assert.equal(engine.queries.job(1)?.state, "expired");
});

test("one call does a bounded part of what is due, and the next call continues", () => {
  const { engine } = open({ results: { ms: 5 } });
  for (let i = 0; i < 2500; i++) {
    engine.add("q", { delayMs: 10 }, 0);
    engine.add("q", { ttlMs: 10 }, 0);
  }
  const { calls } = settle(engine, 10);
  assert.ok(calls >= 5 && calls <= 8, `${calls} calls`);
  assert.equal(engine.queries.queueStats("q").waiting, 2500);
  const forgetting = settle(engine, 15).calls;
  assert.equal(engine.queries.queueStats("q").kept, 0);
  assert.ok(forgetting >= 1 && forgetting <= 5, `${forgetting} calls to forget`);
});

test("many gates that open in one millisecond are looked at over several calls", () => {
  const { engine } = open();
  const gates = 1200;
  for (let i = 0; i < gates; i++) engine.setGate(`g${i}`, { rate: 1 }, 0);
  for (let i = 0; i < 2 * gates; i++) {
    engine.add("q", { fairnessKey: `k${i % gates}`, gates: [`g${i % gates}`] }, 0);
  }
  engine.want("q", "w", 10_000, 0);
  assert.equal(settle(engine, 0).dispatched, gates);
  assert.equal(engine.nextWake(0), 1000);
  const before = engine.queries.steps;
  const first = engine.dispatch(1000, 10_000).length;
  assert.ok(engine.queries.steps - before < 8000);
  assert.equal(first + settle(engine, 1000).dispatched, gates);
});

test("kept jobs that are over are forgotten a bounded part at a time", () => {
  const { engine } = open({ results: { jobs: 10_000, ms: 5 } });
  for (let i = 0; i < 3500; i++) engine.add("q", { ttlMs: 1 }, 0);
  settle(engine, 1);
  assert.equal(engine.queries.queueStats("q").kept, 3500);
  engine.tick(6);
  assert.ok(engine.queries.queueStats("q").kept >= 2000);
  settle(engine, 6);
  assert.equal(engine.queries.queueStats("q").kept, 0);
});

test("what falls due in a queue that is being deleted is dropped", () => {
  const { engine, facts } = open({ leaseMs: 10 });
  for (let i = 0; i < 50; i++) engine.add("q", {}, 0);
  engine.addAll("q", [{ delayMs: 10 }, { ttlMs: 10 }, { delayMs: 10, attempts: 1 }], 0);
  engine.lease("q", 2, 0);
  engine.deleteQueue("q", 5);
  facts.length = 0;
  settle(engine, 10);
  assert.deepEqual(facts, [], "its deletion has said it all");
  assert.deepEqual(engine.queries.queueNames(), []);
});

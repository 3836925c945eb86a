import assert from "node:assert/strict";
import { test } from "node:test";
import { each, fill, openEngine, openTelling } from "../testing/test-engine.ts";
import type { Lease } from "../types.ts";

function workersOf(leases: Lease[]): string {
  return leases.map((lease) => lease.worker).join("");
}

test("a lease contains everything a worker needs, and is emitted as a fact", () => {
  const { engine, facts } = openTelling({ leaseMs: 500 });
  engine.add("q", { body: "b", priority: 2 }, 10);
  engine.want("q", "w", 1, 10);
  assert.deepEqual(engine.dispatch(25), [
    {
      id: 1,
      lease: 1,
      queue: "q",
      worker: "w",
      attempt: 0,
      tier: 2,
      expiresAt: 525,
      body: "b",
    },
  ]);
  const leased = { at: 25, fact: "leased", id: 1, lease: 1, until: 525, worker: "w" };
  assert.deepEqual(facts.at(-1), leased);
});

test("nothing goes out without a free worker, and no more than it asked for", () => {
  const engine = openEngine();
  fill(engine, 5);
  assert.deepEqual(engine.dispatch(0), []);
  engine.want("q", "w", 2, 0);
  assert.equal(engine.queries.queueStats("q").freeWorkers, 2);
  assert.equal(engine.dispatch(0).length, 2);
  assert.deepEqual(engine.dispatch(0), []);
  engine.want("q", "w", 9, 0);
  engine.want("q", "w", 1, 0);
  assert.equal(engine.dispatch(0).length, 1, "the last word counts");
  engine.want("q", "w", 1, 0);
  engine.want("q", "w", 0, 0);
  assert.deepEqual(engine.dispatch(0), []);
});

test("one call dispatches at most the given number of jobs, and the next call the rest", () => {
  const engine = openEngine();
  fill(engine, 5);
  engine.want("q", "w", 9, 0);
  assert.equal(engine.dispatch(0, 2).length, 2);
  assert.equal(engine.nextWake(0), 0);
  assert.equal(engine.dispatch(0).length, 3);
  assert.equal(engine.nextWake(0), 30_000, "then nothing until a lease runs out");
});

test("free workers take turns", () => {
  const engine = openEngine();
  fill(engine, 6);
  engine.want("q", "a", 3, 0);
  engine.want("q", "b", 1, 0);
  engine.want("q", "c", 2, 0);
  assert.equal(workersOf(engine.dispatch(0)), "abcaca");
});

test("queues take turns", () => {
  const engine = openEngine();
  engine.setQueue("r", {}, 0);
  fill(engine, 3);
  fill(engine, 2, {}, "r");
  engine.want("q", "q", 9, 0);
  engine.want("r", "r", 9, 0);
  assert.equal(workersOf(engine.dispatch(0)), "qrqrq");
});

test("strict tiers: the more urgent go first, whenever they come", () => {
  const engine = openEngine({ tiers: 3 });
  fill(engine, 2, { priority: 2, body: 2 });
  fill(engine, 1, { priority: 0, body: 0 });
  engine.want("q", "w", 1, 0);
  assert.equal(engine.dispatch(0)[0]?.body, 0);
  fill(engine, 1, { priority: 1, body: 1 });
  engine.want("q", "w", 9, 0);
  assert.deepEqual(each(engine.dispatch(0), "body"), [1, 2, 2]);
});

test("weighted tiers share, and no tier starves", () => {
  const engine = openEngine({ tiers: 2, tierOrder: [3, 1] });
  fill(engine, 40, { priority: 0, body: 0 });
  fill(engine, 40, { priority: 1, body: 1 });
  const tiers = engine.lease("q", 40, 0).map((lease) => lease.body);
  assert.equal(tiers.filter((tier) => tier === 0).length, 30);
  engine.want("q", "w", 100, 0);
  assert.equal(engine.dispatch(0).length, 40, "a tier that has run dry leaves its share");
});

test("a caller that comes for jobs gets them, as many as it asks for and there are", () => {
  const engine = openEngine();
  fill(engine, 3);
  assert.equal(engine.lease("q", 2, 0).length, 2);
  assert.equal(engine.lease("q", 2, 0).length, 1);
  assert.deepEqual(engine.lease("q", 2, 0), []);
  assert.deepEqual(engine.lease("q", 0, 0), []);
  assert.equal(
    engine.queries.queueStats("q").freeWorkers,
    0,
    "what it did not get is not owed to it",
  );
});

test("a caller that comes for jobs of a paused queue gets none", () => {
  const engine = openEngine({ paused: true });
  fill(engine, 1);
  assert.deepEqual(engine.lease("q", 1, 0), []);
});

test("a worker that leaves takes no more jobs, and what it holds stays leased", () => {
  const engine = openEngine();
  fill(engine, 3);
  engine.want("q", "w", 2, 0);
  const [first] = engine.dispatch(0, 1);
  engine.want("q", "w", 0, 0);
  engine.want("q", "w", 0, 0);
  engine.want("q", "nobody", 0, 0);
  assert.deepEqual(engine.dispatch(0), []);
  assert.equal(engine.queries.queueStats("q").freeWorkers, 0);
  const why = engine.queries.why(first!.id, 0);
  assert.equal(why.state === "running" && why.worker, "w");
  engine.want("q", "w", 1, 0);
  assert.equal(workersOf(engine.dispatch(0)), "w", "it may come back");
  engine.ack(first!.id, first!.lease, 1);
  engine.tick(30_000);
  assert.equal(engine.queries.queueStats("q").running, 0, "and its leases run out");
});

test("a lease is for the job's own time, or the queue's", () => {
  const engine = openEngine({ leaseMs: 100 });
  engine.add("q", { leaseMs: 7 }, 0);
  engine.add("q", { ttlMs: 10_000 }, 0);
  assert.deepEqual(each(engine.lease("q", 2, 5), "expiresAt"), [12, 105]);
});

test("a lease counts the deliveries of its job from 1", () => {
  const engine = openEngine();
  engine.add("q", {}, 0);
  for (let lease = 1; lease <= 3; lease++) {
    const [taken] = engine.lease("q", 1, 0);
    assert.deepEqual([taken?.lease, taken?.attempt], [lease, 0]);
    engine.giveBack(1, lease, 0);
  }
});

test("a strand that finds its gate shut is passed over, and its lane's next one goes out", () => {
  const engine = openEngine();
  engine.setGate("g", { rate: 1, burst: 1 }, 0);
  fill(engine, 2, { gates: ["g"], body: "gated" });
  fill(engine, 1, { body: "free" });
  engine.want("q", "w", 9, 0);
  const bodies = engine.dispatch(0).map((lease) => lease.body);
  assert.deepEqual(bodies, ["gated", "free"]);
  assert.equal(engine.nextWake(0), 1000);
  assert.deepEqual(engine.dispatch(999), []);
  assert.equal(engine.dispatch(1000)[0]?.body, "gated", "at the very millisecond it opens");
});

test("a call that meets many shut lanes stops in time, and the next call continues", () => {
  const engine = openEngine();
  engine.setGate("g", { concurrency: 20_000 }, 0);
  for (let i = 0; i < 10_000; i++) engine.add("q", { fairnessKey: `k${i}`, gates: ["g"] }, 0);
  engine.setGate("g", { rate: 0 }, 0);
  for (const call of [
    () => engine.lease("q", 10, 0),
    () => {
      engine.want("q", "w", 10, 0);
      return engine.dispatch(0);
    },
  ]) {
    const before = engine.queries.steps;
    assert.deepEqual(call(), []);
    assert.ok(engine.queries.steps - before < 6000, "bounded");
  }
  assert.equal(engine.nextWake(0), 0, "there is more to look at");
  for (let calls = 0; engine.nextWake(0) === 0; calls++) {
    assert.ok(calls < 20);
    engine.dispatch(0);
  }
  assert.equal(engine.queries.gateStats("g", 0).waitingLanes, 10_000);
  assert.equal(engine.nextWake(0), Number.POSITIVE_INFINITY);
});

test("a worker's place is used again when it has left and holds nothing", () => {
  const engine = openEngine();
  for (let i = 0; i < 1000; i++) {
    engine.want("q", `w${i}`, 1, 0);
    engine.want("q", `w${i}`, 0, 0);
  }
  engine.add("q", {}, 0);
  engine.want("q", "last", 1, 0);
  assert.equal(workersOf(engine.dispatch(0)), "last");
});

test("of many jobs whose deadline passes at once none goes out", () => {
  const engine = openEngine();
  engine.want("q", "w", 9, 0);
  engine.pause("q", 0);
  fill(engine, 5000, { ttlMs: 10 });
  engine.resume("q", 9);
  assert.deepEqual(engine.takeAll(10), []);
  assert.equal(engine.queries.queueStats("q").expired, 5000);
});

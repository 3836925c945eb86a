import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine, TestEngine } from "../testing/test-engine.ts";

function open(): TestEngine {
  const engine = openEngine();
  engine.setQueue("other", {}, 0);
  return engine;
}

test("jobs are listed by state and by key, page by page", () => {
  const engine = open();
  for (let i = 0; i < 5; i++)
    engine.add("q", { fairnessKey: i % 2 === 0 ? "even" : ["o", "d"] }, 0);
  engine.add("q", { delayMs: 10 }, 0);
  engine.add("other", {}, 0);
  const [leased] = engine.lease("q", 1, 0);
  engine.cancel(2, 0);
  const ids = (query: Parameters<TestEngine["queries"]["jobs"]>[1]): number[] =>
    engine.queries.jobs("q", query).jobs.map(({ id }) => id);
  assert.deepEqual(ids({}), [1, 2, 3, 4, 5, 6]);
  assert.deepEqual(ids({ state: "running" }), [leased!.id]);
  assert.deepEqual(ids({ state: "cancelled" }), [2]);
  assert.deepEqual([...ids({ state: "failed" }), ...ids({ state: "blocked" })], []);
  assert.deepEqual(ids({ state: "delayed" }), [6]);
  assert.deepEqual(ids({ key: ["o", "d"] }), [2, 4]);
  const page = engine.queries.jobs("q", { limit: 2 });
  assert.deepEqual(ids({ limit: 9, cursor: page.cursor }), [3, 4, 5, 6]);
  assert.equal(engine.queries.jobs("q", { limit: 9 }).cursor, 0);
  assert.throws(() => engine.queries.jobs("q", { limit: 0 }), { code: "INVALID" });
});

test("workers are listed with what they would take and what they hold", () => {
  const engine = open();
  engine.want("q", "w", 3, 0, { leaseMs: 500 });
  engine.add("q", {}, 0);
  const [lease] = engine.dispatch(0);
  assert.deepEqual(engine.queries.workers("q"), [{ name: "w", free: 2, running: 1 }]);
  assert.equal(lease!.expiresAt, 500, "its own lease time rules");
  assert.equal(engine.queries.job(lease!.id)?.worker, "w");
});

test("returns what the worker of a lease needs, for as long as it is held", () => {
  const engine = open();
  engine.add("q", { fairnessKey: "k", attempts: 3 }, 5);
  const [lease] = engine.lease("q", 1, 6);
  const held = {
    attempts: 3,
    deliveries: 1,
    hasSteps: false,
    fairnessKey: "k",
    addedAt: 5,
    expiresAt: 30_006,
  };
  assert.deepEqual(engine.held(1, lease!.lease), held);
  assert.equal(engine.held(1, lease!.lease + 1), undefined);
  assert.equal(engine.held(2, 1), undefined);
  engine.checkLease(1, lease!.lease);
  assert.throws(() => engine.checkLease(1, 9), { code: "LEASE_LOST" });
  engine.ack(1, lease!.lease, 7);
  assert.equal(engine.held(1, lease!.lease), undefined);
  engine.add("q", {}, 7);
  const [other] = engine.lease("q", 1, 7);
  engine.deleteQueue("q", 7);
  assert.equal(engine.held(2, other!.lease), undefined, "no one holds a job of a deleted queue");
});

test("replaces the body of a job, and reports bodies that no job has any more", () => {
  const gone = { bodies: [], sizes: [] };
  const engine = openEngine({ results: { jobs: 0 } }, { gone });
  engine.add("q", { body: "a", dedupe: { key: "k", mode: "replace" } }, 0);
  assert.equal(engine.setBody(1, "a", "b"), true);
  assert.equal(engine.setBody(1, "a", "x"), false, "it has another body by now");
  assert.equal(engine.setBody(7, undefined, "x"), false, "there is no such job");
  assert.deepEqual([engine.body(1), engine.body(7)], ["b", undefined]);
  engine.add("q", { body: "c", dedupe: { key: "k", mode: "replace" } }, 0);
  engine.cancel(1, 0);
  assert.deepEqual(gone, { bodies: ["b", "c"], sizes: [0, 0] });
});

test("what is not known has no record, no queue and no place", () => {
  const engine = open();
  engine.add("q", {}, 0);
  assert.equal(engine.queries.record(1)?.queue, "q");
  assert.equal(engine.queueOf(1), "q");
  assert.equal(engine.queries.record(2), undefined);
  assert.equal(engine.queueOf(2), undefined);
  engine.deleteQueue("q", 0);
  assert.equal(engine.queries.record(1), undefined);
});

test("whether there is room is asked without being counted as rejected", () => {
  const engine = open();
  engine.setQueue("q", { capacity: { jobs: 1, delayed: 1 } }, 0);
  assert.equal(engine.queries.hasRoom("q", {}, 0), true);
  engine.add("q", {}, 0);
  assert.equal(engine.queries.hasRoom("q", {}, 0), false);
  assert.equal(engine.queries.hasRoom("q", { delayMs: 5 }, 0), true);
  assert.equal(engine.queries.hasRoom("q", { runAt: 5 }, 0), true);
  assert.throws(() => engine.queries.hasRoom("q", { priority: "none" }, 0), { code: "INVALID" });
  assert.equal(engine.queries.queueStats("q").rejected, 0);
});

test("the limits set for a pattern itself can be read", () => {
  const engine = open();
  engine.setGate("p:*", { rate: 2 }, 0);
  assert.equal(engine.queries.gateConfig("p:*")?.rate, 2);
  assert.equal(engine.queries.gateConfig("p:1"), undefined);
});

test("a gate tells whose lanes stand in its line", () => {
  const engine = new TestEngine({ seed: 1 });
  for (const queue of ["a", "b"]) engine.setQueue(queue, { tiers: 2 }, 0);
  engine.setGate("g", { concurrency: 1 }, 0);
  const job = (fairnessKey: string, priority: number) => ({ fairnessKey, priority, gates: ["g"] });
  engine.addAll("a", [job("x", 0), job("y", 0), job("z", 1)], 0);
  engine.addAll("b", [job("x", 1)], 0);
  for (const queue of ["a", "b"]) engine.want(queue, "w", 5, 0);
  engine.dispatch(0);
  const line = engine.queries.gateLine("g");
  assert.deepEqual(
    line.sort((one, other) => (one.queue + one.tier < other.queue + other.tier ? -1 : 1)),
    [
      { queue: "a", tier: 0, lanes: 1 },
      { queue: "a", tier: 1, lanes: 1 },
      { queue: "b", tier: 1, lanes: 1 },
    ],
  );
  assert.deepEqual(engine.queries.gateLine("nobody"), []);
});

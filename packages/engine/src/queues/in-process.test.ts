import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact } from "../facts/facts.ts";
import { TestEngine } from "../testing/test-engine.ts";

/** An engine whose facts are kept, with the queue "q": ten seconds a lease, two attempts. */
function open(): { engine: TestEngine; facts: Fact[] } {
  const facts: Fact[] = [];
  const engine = new TestEngine({ facts });
  const retry = { attempts: 2, minMs: 1000, jitter: 0 };
  engine.setQueue("q", { leaseMs: 10_000, retry }, 0);
  return { engine, facts };
}

function restarted(facts: readonly Fact[], now: number, more: Fact[] = []): TestEngine {
  const engine = new TestEngine({ facts: more });
  for (const fact of facts) engine.apply(fact);
  engine.endReplay(now);
  return engine;
}

test("what a worker in the ended process held fails at the start", () => {
  const { engine, facts } = open();
  const { id } = engine.add("q", {}, 0);
  engine.want("q", "here", 1, 0, { inProcess: true });
  assert.equal(engine.dispatch(0).length, 1);
  const again = restarted(facts, 100);
  assert.equal(again.nextWake(100), 100);
  again.dispatch(100);
  const job = again.queries.job(id)!;
  assert.deepEqual([job.state, job.attempt], ["delayed", 1]);
  assert.match(job.error!, /process/);
  assert.throws(() => again.ack(id, 1, 101), { code: "LEASE_LOST" });
});

test("a worker elsewhere keeps its lease over the restart and may ack", () => {
  const { engine, facts } = open();
  const { id } = engine.add("q", {}, 0);
  engine.want("q", "elsewhere", 1, 0);
  engine.dispatch(0);
  const again = restarted(facts, 100);
  again.dispatch(100);
  assert.equal(again.queries.job(id)!.state, "running");
  again.ack(id, 1, 101);
  assert.equal(again.queries.job(id)!.state, "finished");
});

test("a job that ends its process each time is dead when its attempts are used up", () => {
  const { engine, facts } = open();
  const { id } = engine.add("q", {}, 0);
  let now = 0;
  let current = engine;
  for (let crash = 0; crash < 2; crash++) {
    now += 5000;
    current.want("q", `life ${crash}`, 1, now, { inProcess: true });
    assert.equal(current.dispatch(now).length, 1);
    current = restarted([...facts], now + 1, facts);
    current.dispatch(now + 1);
  }
  assert.equal(current.queries.job(id)!.queue, "q.dlq");
});

test("a snapshot and a job that is emitted again keep whose lease it is", () => {
  const { engine, facts } = open();
  for (let i = 0; i < 2; i++) engine.add("q", {}, 0);
  engine.want("q", "w", 1, 0, { inProcess: true });
  engine.want("q", "w", 1, 0);
  engine.dispatch(0);
  assert.equal(facts.filter((fact) => fact.fact === "leased").length, 2);
  const again = restarted([...engine.snapshot()], 100);
  again.dispatch(100);
  const states = again.queries.jobs("q", { limit: 10 }).jobs.map(({ state }) => state);
  assert.deepEqual(states.sort(), ["delayed", "running"]);
});

test("a new worker with the name of one that is gone keeps its leases", () => {
  const { engine, facts } = open();
  for (let i = 0; i < 2; i++) engine.add("q", {}, 0);
  engine.want("q", "w", 1, 0, { inProcess: true });
  engine.dispatch(0);
  const again = restarted(facts, 100);
  again.want("q", "w", 1, 100, { inProcess: true });
  const [lease] = again.dispatch(100);
  again.dispatch(9000);
  assert.equal(again.queries.job(lease!.id)!.state, "running");
  again.dispatch(10_100);
  assert.match(again.queries.job(lease!.id)!.error!, /lease expired/);
});

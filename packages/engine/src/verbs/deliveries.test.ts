import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact } from "../facts/facts.ts";
import { open, takeOne } from "../properties/one-queue.ts";
import { type QueueChange, TestEngine } from "../testing/test-engine.ts";

const retryAfter = { cooldown: { gate: "g", ms: 0 }, error: "busy", stack: "at a" };

function opened(options: QueueChange = {}): { engine: TestEngine; facts: Fact[] } {
  return open({ retry: { attempts: 3, minMs: 0, maxMs: 0, deliveries: 5 }, ...options });
}

test("a job that RetryAfter gives back again and again is dead after its deliveries", () => {
  const { engine, facts } = opened();
  engine.add("q", {}, 0);
  for (let delivery = 1; delivery <= 5; delivery++) {
    const { lease, attempt } = takeOne(engine);
    assert.equal(engine.held(1, lease)?.deliveries, delivery);
    assert.equal(attempt, 0, "it uses no attempt");
    engine.nack(1, lease, 0, retryAfter);
  }
  const { queue, error, stack, dead } = engine.queries.job(1)!;
  assert.deepEqual([queue, error, stack], ["q.dlq", "busy", "at a"]);
  assert.deepEqual(dead, { origin: "q", reason: "deliveries used up", attempts: 0, at: 0 });
  const other = new TestEngine();
  for (const fact of facts) other.apply(fact);
  assert.deepEqual(other.queries.job(1), engine.queries.job(1));
});

test("the bound is 250 by default", () => {
  const { engine } = open({ retry: { attempts: 1 } });
  engine.add("q", {}, 0);
  let deliveries = 0;
  for (; engine.queries.job(1)?.queue === "q"; deliveries++) {
    engine.nack(1, takeOne(engine).lease, 0, retryAfter);
  }
  assert.equal(deliveries, 250);
});

test("failures count among the deliveries, and the attempts that were used are kept", () => {
  const { engine } = opened();
  engine.add("q", { attempts: 9 }, 0);
  for (let i = 0; i < 5; i++) {
    engine.nack(1, takeOne(engine).lease, 0, i % 2 === 0 ? {} : retryAfter);
  }
  assert.deepEqual(
    [engine.queries.job(1)?.dead?.reason, engine.queries.job(1)?.dead?.attempts],
    ["deliveries used up", 3],
  );
});

test("a give back counts as a delivery and is never the last straw", () => {
  const { engine } = opened();
  engine.add("q", {}, 0);
  for (let i = 0; i < 9; i++) engine.giveBack(1, takeOne(engine).lease, 0);
  assert.deepEqual([engine.queries.job(1)?.queue, engine.queries.job(1)?.deliveries], ["q", 9]);
});

test("without a dead letter queue the job fails for that reason", () => {
  const { engine } = opened({ dlq: false, retry: { deliveries: 1 } });
  engine.add("q", {}, 0);
  engine.nack(1, takeOne(engine).lease, 0, { cooldown: { gate: "g", ms: 0 } });
  const { state, error } = engine.queries.job(1)!;
  assert.deepEqual([state, error], ["failed", "deliveries used up"]);
});

test("a redrive and a retry by hand begin to count from the start, with new leases", () => {
  const { engine, facts } = opened({ dlq: false, retry: { attempts: 1, deliveries: 2 } });
  engine.add("q", {}, 0);
  engine.nack(1, takeOne(engine).lease, 0);
  assert.equal(engine.queries.job(1)?.deliveries, 1);
  engine.retry(1, 0);
  assert.equal(engine.queries.job(1)?.deliveries, 0);
  const { lease } = takeOne(engine);
  assert.equal(lease, 2);
  engine.nack(1, lease, 0, retryAfter);
  assert.deepEqual(
    [engine.queries.job(1)?.state, engine.queries.job(1)?.deliveries],
    ["waiting", 1],
  );
  const other = new TestEngine();
  for (const fact of facts) other.apply(fact);
  assert.equal(other.queries.job(1)?.deliveries, 1);
  for (const fact of engine.snapshot()) assert.ok(fact);
});

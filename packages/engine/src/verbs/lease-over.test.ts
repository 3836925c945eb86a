import assert from "node:assert/strict";
import { test } from "node:test";
import { openTelling, TestEngine } from "../testing/test-engine.ts";

const RETRY = { attempts: 3, minMs: 100, maxMs: 100, factor: 1, jitter: 0 };

/** An engine whose leases last on for so long when they have run out, with one leased job. */
function held(ms: number) {
  const { engine, facts } = openTelling({ leaseMs: 50, retry: RETRY });
  engine.askOverdue("q", ms);
  const { id } = engine.add("q", {}, 0);
  const { lease } = engine.lease("q", 1, 0)[0]!;
  return { engine, facts, id, lease };
}

test("a lease that runs out lasts on, and its caller learns of it", () => {
  const { engine, facts, id, lease } = held(20);
  engine.tick(49);
  assert.deepEqual(engine.takeOverdue(), []);
  engine.tick(50);
  assert.deepEqual(engine.takeOverdue(), [{ id, lease, queue: "q", until: 70 }]);
  assert.deepEqual(engine.takeOverdue(), [], "it is taken");
  assert.equal(engine.held(id, lease)!.expiresAt, 70);
  assert.equal(engine.nextWake(50), 70);
  assert.deepEqual(facts.at(-1), { at: 50, fact: "extended", id, until: 70 });
  engine.tick(70);
  assert.deepEqual(engine.takeOverdue(), [{ id, lease, queue: "q", until: 90 }]);
});

test("then it fails as its caller says, and the attempt counts", () => {
  const { engine, id, lease } = held(20);
  engine.tick(50);
  engine.expire(id, lease, 55, { delayMs: 7 });
  const { state, attempt, at, error } = engine.queries.job(id)!;
  assert.deepEqual([state, attempt, at, error], ["delayed", 1, 62, "the lease expired"]);
  assert.throws(() => engine.expire(id, lease, 56), { code: "LEASE_LOST" });
  engine.tick(62);
  const [again] = engine.lease("q", 1, 62);
  engine.expire(id, again!.lease, 63, { unrecoverable: true });
  assert.equal(engine.queries.job(id)!.queue, "q.dlq");
});

test("a lease fails at once in a queue that does not ask", () => {
  const { engine, id } = held(0);
  engine.tick(50);
  assert.deepEqual(engine.takeOverdue(), []);
  assert.deepEqual(
    [engine.queries.job(id)!.state, engine.queries.job(id)!.attempt],
    ["delayed", 1],
  );
});

test("without another attempt there is nothing to ask about", () => {
  const { engine, id, lease } = held(20);
  engine.nack(id, lease, 0, { delayMs: 0 });
  const [second] = engine.lease("q", 1, 0);
  engine.nack(id, second!.lease, 0, { delayMs: 0 });
  engine.lease("q", 1, 0);
  engine.tick(50);
  assert.deepEqual(engine.takeOverdue(), []);
  assert.equal(engine.queries.job(id)!.queue, "q.dlq");
});

test("the decision is in the facts: a replay does not ask", () => {
  const { engine, facts, id, lease } = held(20);
  engine.tick(50);
  engine.expire(id, lease, 55, { delayMs: 7 });
  const copy = new TestEngine();
  for (const fact of facts) copy.apply(fact);
  copy.endReplay();
  assert.deepEqual(copy.takeOverdue(), []);
  assert.deepEqual(copy.queries.job(id), engine.queries.job(id));
});

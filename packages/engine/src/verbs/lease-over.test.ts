import assert from "node:assert/strict";
import { test } from "node:test";
import { Engine } from "../engine.ts";
import type { Fact } from "../facts/facts.ts";

const RETRY = { attempts: 3, minMs: 100, maxMs: 100, factor: 1, jitter: 0 };

/** An engine whose leases are held on for so long, with one leased job. */
function held(ms: number) {
  const facts: Fact[] = [];
  const asked: unknown[] = [];
  const engine = new Engine({
    facts: (fact) => facts.push(fact),
    onLeaseOver: (...over) => {
      asked.push(over);
      return ms;
    },
  });
  engine.setQueue("q", { leaseMs: 50, retry: RETRY }, 0);
  const { id } = engine.add("q", {}, 0);
  const { lease } = engine.lease("q", 1, 0)[0]!;
  return { engine, facts, asked, id, lease };
}

test("whoever decides on failures is asked when a lease is over, and it is held on", () => {
  const { engine, facts, asked, id, lease } = held(20);
  engine.tick(49);
  assert.deepEqual(asked, []);
  engine.tick(50);
  assert.deepEqual(asked, [[id, lease, "q", 50]]);
  assert.equal(engine.held(id, lease)!.expiresAt, 70);
  assert.equal(engine.nextWake(50), 70);
  assert.deepEqual(facts.at(-1), { at: 50, fact: "extended", id, until: 70 });
});

test("then it fails as they say, and the attempt counts", () => {
  const { engine, id, lease } = held(20);
  engine.tick(50);
  engine.expire(id, lease, 55, { delayMs: 7 });
  const { state, attempt, at, error } = engine.job(id)!;
  assert.deepEqual([state, attempt, at, error], ["delayed", 1, 62, "the lease expired"]);
  assert.throws(() => engine.expire(id, lease, 56), { code: "LEASE_LOST" });
  engine.tick(62);
  const [again] = engine.lease("q", 1, 62);
  engine.expire(id, again!.lease, 63, { unrecoverable: true });
  assert.equal(engine.job(id)!.queue, "q.dlq");
});

test("a lease that nobody wants to be asked about is over at once", () => {
  const { engine, asked, id } = held(0);
  engine.tick(50);
  assert.equal(asked.length, 1);
  assert.deepEqual([engine.job(id)!.state, engine.job(id)!.attempt], ["delayed", 1]);
});

test("the decision is in the facts: a replay asks nobody", () => {
  const { engine, facts, id, lease } = held(20);
  engine.tick(50);
  engine.expire(id, lease, 55, { delayMs: 7 });
  const copy = new Engine({ onLeaseOver: () => assert.fail("asked") });
  for (const fact of facts) copy.apply(fact);
  copy.endReplay();
  assert.deepEqual(copy.job(id), engine.job(id));
});

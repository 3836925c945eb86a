import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact } from "../facts/facts.ts";
import { openEngine, openTelling, rebuilt, type TestEngine } from "../testing/test-engine.ts";

/** A job that has died in "q" of one failure. */
function bury(engine: TestEngine, now: number): number {
  const { id } = engine.add("q", { fairnessKey: "acme", gates: ["g"], cost: 2, priority: 1 }, now);
  const [lease] = engine.lease("q", 1, now);
  engine.nack(lease!.id, lease!.lease, now, { error: "boom", unrecoverable: true });
  return id;
}

function alike(engine: TestEngine, facts: readonly Fact[], id: number): void {
  const again = rebuilt(facts);
  assert.deepEqual(again.queries.job(id), engine.queries.job(id));
  assert.deepEqual(again.queries.queueStats("q"), engine.queries.queueStats("q"));
}

test("a job that is deleted is forgotten, whatever its state was, also after a replay", () => {
  const { engine, facts } = openTelling();
  const waiting = engine.add("q", {}, 1).id;
  const ended = engine.add("q", {}, 1).id;
  engine.cancel(ended, 2);
  const dead = bury(engine, 3);
  const delayed = engine.add("q", { delayMs: 100 }, 4).id;
  for (const id of [waiting, ended, dead, delayed]) {
    engine.byHand.forget(id, 5);
    assert.equal(engine.queries.job(id), undefined);
    alike(engine, facts, id);
  }
  assert.throws(() => engine.byHand.forget(waiting, 6), { code: "ALREADY_FINISHED" });
});

test("a job of a flow that others wait for is not deleted", () => {
  const engine = openEngine();
  const first = engine.add("q", {}, 1).id;
  engine.add("q", { dependencies: [{ id: first, on: "wait" }] }, 1);
  assert.throws(() => engine.byHand.forget(first, 2), { code: "CONFLICT" });
});

test("a job gets another payload unless a worker holds it", () => {
  const { engine, facts } = openTelling({ capacity: { bytes: 100 } });
  const { id } = engine.add("q", { body: "old", sizeBytes: 10 }, 1);
  engine.byHand.edit(id, "new", 30, 2);
  assert.equal(engine.body(id), "new");
  assert.equal(engine.queries.queueStats("q").bytes, 30);
  alike(engine, facts, id);
  assert.throws(() => engine.byHand.edit(id, "huge", 200, 2), { code: "QUEUE_FULL" });
  engine.lease("q", 1, 3);
  assert.throws(() => engine.byHand.edit(id, "late", 1, 3), { code: "CONFLICT" });
});

test("a letter goes to another queue than its own, with all that it had there", () => {
  const { engine, facts } = openTelling();
  engine.setQueue("other", { tiers: 1 }, 0);
  const id = bury(engine, 1);
  engine.byHand.transfer(id, "other", 5);
  const { queue, state, tier, fairnessKey, gates, cost, attempt, dead } = engine.queries.job(id)!;
  assert.deepEqual(
    { queue, state, tier, fairnessKey, gates, cost, attempt, dead },
    {
      ...{ queue: "other", state: "waiting", tier: 0, fairnessKey: "acme" },
      ...{ gates: ["g"], cost: 2, attempt: 0, dead: undefined },
    },
  );
  alike(engine, facts, id);
});

test("an ended job starts over in another queue, and in its own", () => {
  const { engine, facts } = openTelling();
  engine.setQueue("other", {}, 0);
  const { id } = engine.add("q", { ttlMs: 50 }, 1);
  engine.cancel(id, 2);
  engine.byHand.transfer(id, "other", 3);
  assert.equal(engine.queries.job(id)!.queue, "other");
  assert.equal(engine.queries.job(id)!.deadline, undefined);
  engine.cancel(id, 4);
  engine.byHand.transfer(id, "other", 5);
  assert.equal(engine.queries.job(id)!.state, "waiting");
  alike(engine, facts, id);
});

test("a delayed job that is moved keeps its delay, and leaves its dedupe key", () => {
  const { engine, facts } = openTelling();
  engine.setQueue("other", {}, 0);
  const dedupe = { key: "k", mode: "pending" } as const;
  const { id } = engine.add("q", { delayMs: 100, dedupe }, 1);
  engine.byHand.transfer(id, "other", 5);
  assert.deepEqual([engine.queries.job(id)!.state, engine.queries.job(id)!.at], ["delayed", 101]);
  assert.equal(engine.add("q", { dedupe }, 6).duplicate, undefined);
  alike(engine, facts, id);
});

test("refuses to move a job that is leased, blocked or already in the target queue", () => {
  const engine = openEngine();
  engine.setQueue("other", { capacity: { jobs: 1 } }, 0);
  const held = engine.add("q", {}, 1).id;
  engine.lease("q", 1, 1);
  const waiting = engine.add("q", {}, 1).id;
  const blocked = engine.add("q", { dependencies: [{ id: held }] }, 1).id;
  assert.throws(() => engine.byHand.transfer(held, "other", 2), { code: "CONFLICT" });
  assert.throws(() => engine.byHand.transfer(blocked, "other", 2), { code: "CONFLICT" });
  assert.throws(() => engine.byHand.transfer(waiting, "q", 2), { code: "INVALID" });
  assert.throws(() => engine.byHand.transfer(waiting, "none", 2), { code: "QUEUE_NOT_FOUND" });
  engine.add("other", {}, 2);
  assert.throws(() => engine.byHand.transfer(waiting, "other", 2), { code: "QUEUE_FULL" });
});

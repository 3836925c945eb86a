import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answered, Fact } from "./facts/facts.ts";
import {
  NUMBERED_SOURCES_MAX,
  OPERATION_ANSWERS_MAX,
  OPERATION_MS,
  OPERATIONS_MAX,
} from "./limits.ts";
import { TestEngine } from "./testing/test-engine.ts";

const one = (item: number, answer: unknown = true): Answered => ({ item, count: 1, answer });

test("remembers an answer for ten minutes, and no longer", () => {
  const engine = new TestEngine();
  engine.operations.remember("o", "add q 2", [one(0)], 0);
  engine.operations.remember("o", "add q 2", [one(1)], 5);
  const known = { call: "add q 2", answers: [one(0), one(1)] };
  assert.deepEqual(engine.operations.recall("o", OPERATION_MS - 1), known);
  assert.equal(engine.operations.recall("o", OPERATION_MS), undefined);
  assert.equal(engine.operations.recall("never", OPERATION_MS), undefined);
});

test("a name can be used again when its time is over", () => {
  const engine = new TestEngine();
  engine.operations.remember("o", "add q 1", [one(0, "old")], 0);
  engine.operations.remember("o", "ack 1", [one(0, "new")], OPERATION_MS);
  const known = { call: "ack 1", answers: [one(0, "new")] };
  assert.deepEqual(engine.operations.recall("o", OPERATION_MS), known);
});

test("of too many operations, or too many answers, the oldest are forgotten", () => {
  const engine = new TestEngine();
  for (let i = 0; i <= OPERATIONS_MAX; i++)
    engine.operations.remember(`o${i}`, "ack 1", [one(0)], 0);
  assert.equal(engine.operations.recall("o0", 0), undefined);
  assert.ok(engine.operations.recall("o1", 0));
  const many = Array.from({ length: OPERATION_ANSWERS_MAX + 1 }, (_, item) => one(item));
  engine.operations.remember("large", "add q 1", many, 0);
  assert.equal(engine.operations.recall(`o${OPERATIONS_MAX}`, 0), undefined);
  assert.equal(
    engine.operations.recall("large", 0)?.answers.length,
    many.length,
    "the latest is kept",
  );
});

test("operations are rebuilt by facts, a snapshot and a checkpoint, said twice too", () => {
  const facts: Fact[] = [];
  const engine = new TestEngine({ facts });
  engine.operations.remember("a", "add q 2", [one(0)], 0);
  engine.operations.remember("a", "add q 2", [one(1)], 1);
  engine.operations.remember("b", "ack 1", [one(0)], 2);
  const checkpoint = structuredClone([...engine.checkpoint()].flat());
  const told = {
    facts: structuredClone(facts),
    snapshot: structuredClone([...engine.snapshot()]),
    checkpoint,
    both: [...facts, ...checkpoint],
  };
  for (const [what, list] of Object.entries(told)) {
    const again = new TestEngine();
    for (const fact of list) again.apply(fact);
    for (const name of ["a", "b"]) {
      assert.deepEqual(again.operations.recall(name, 3), engine.operations.recall(name, 3), what);
    }
    assert.equal(again.operations.recall("a", OPERATION_MS), undefined, "its time continues");
  }
});

test("remembers a numbered operation until its source uses a higher number", () => {
  const engine = new TestEngine();
  const { operations } = engine;
  operations.remember("numbered:relay:7", "add q 2", [one(0)], 0);
  operations.remember("numbered:relay:7", "add q 2", [one(1)], 5);
  const known = { call: "add q 2", answers: [one(0), one(1)] };
  assert.deepEqual(operations.recall("numbered:relay:7", 1000 * OPERATION_MS), known);
  assert.equal(operations.passedBy("numbered:relay:7"), undefined);
  assert.equal(operations.recall("numbered:relay:8", 1000 * OPERATION_MS), undefined);
  operations.remember("numbered:relay:8", "add q 1", [one(0)], 1000 * OPERATION_MS);
  assert.equal(operations.recall("numbered:relay:7", 1000 * OPERATION_MS), undefined);
  assert.equal(operations.passedBy("numbered:relay:7"), 8);
  assert.equal(operations.passedBy("numbered:other:7"), undefined);
  assert.equal(operations.passedBy("a name of its own"), undefined);
  operations.remember("numbered:relay:7", "add q 2", [one(0)], 1000 * OPERATION_MS);
  assert.equal(operations.passedBy("numbered:relay:7"), 8, "a late one changes nothing");
});

test("numbered operations do not push out others, nor others them", () => {
  const { operations } = new TestEngine();
  operations.remember("numbered:relay:1", "ack 1", [one(0)], 0);
  for (let i = 0; i <= OPERATIONS_MAX; i++) operations.remember(`o${i}`, "ack 1", [one(0)], 0);
  assert.ok(operations.recall("numbered:relay:1", 0));
  for (let i = 0; i < NUMBERED_SOURCES_MAX; i++) {
    operations.remember(`numbered:s${i}:1`, "ack 1", [one(0)], 0);
  }
  assert.equal(operations.recall("numbered:relay:1", 0), undefined, "the source silent longest");
  assert.ok(operations.recall("numbered:s0:1", 0));
  assert.ok(operations.recall("o1", 0));
});

test("numbered operations are rebuilt by facts and a checkpoint", () => {
  const facts: Fact[] = [];
  const engine = new TestEngine({ facts });
  engine.operations.remember("numbered:relay:7", "add q 1", [one(0)], 0);
  engine.operations.remember("numbered:relay:8", "add q 1", [one(0)], 1);
  const checkpoint = structuredClone([...engine.checkpoint()].flat());
  for (const told of [facts, checkpoint]) {
    const again = new TestEngine();
    for (const fact of told) again.apply(fact);
    assert.ok(again.operations.recall("numbered:relay:8", OPERATION_MS * 99));
    assert.equal(again.operations.passedBy("numbered:relay:7"), 8);
  }
});

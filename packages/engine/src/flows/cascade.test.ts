import assert from "node:assert/strict";
import { test } from "node:test";
import { Refusal } from "../errors.ts";
import { openEngine, type TestEngine } from "../testing/test-engine.ts";

function add(engine: TestEngine, ...after: number[]): number {
  return engine.add("q", { dependencies: after.map((id) => ({ id })) }, 0).id;
}

const statesOf = (engine: TestEngine, ...ids: number[]): unknown[] => {
  for (let i = 0; i < 5; i++) engine.tick(0);
  return ids.map((id) => engine.queries.job(id)?.state);
};

test("what a cancelled job waits for is cancelled with it, at any depth", () => {
  const engine = openEngine();
  const deep = add(engine);
  const running = engine.lease("q", 1, 0)[0]!;
  const left = add(engine, deep);
  const right = add(engine, deep);
  const top = add(engine, left, right);
  assert.equal(engine.cancel(top, 0, true), true);
  assert.deepEqual(statesOf(engine, deep, left, right, top), Array(4).fill("cancelled"));
  assert.equal(engine.held(running.id, running.lease), undefined);
  assert.equal(engine.cancel(top, 0, true), false);
});

test("what has ended stays as it is, and so does what another job waits for", () => {
  const engine = openEngine();
  const done = add(engine);
  const { lease } = engine.lease("q", 1, 0)[0]!;
  engine.ack(done, lease, 0);
  const shared = add(engine);
  const top = add(engine, done, shared);
  const other = add(engine, shared);
  engine.cancel(top, 0, true);
  const states = ["finished", "waiting", "cancelled", "blocked"];
  assert.deepEqual(statesOf(engine, done, shared, top, other), states);
  // No other job waits for it any more.
  engine.cancel(other, 0, true);
  assert.deepEqual(statesOf(engine, shared, other), ["cancelled", "cancelled"]);
});

test("more jobs than one call may end are refused, and none is cancelled", () => {
  const engine = openEngine();
  const ids = Array.from({ length: 10_000 }, () => add(engine));
  const top = add(engine, ...ids);
  assert.throws(
    () => engine.cancel(top, 0, true),
    (error) => error instanceof Refusal && error.code === "LIMIT_REACHED",
  );
  assert.deepEqual(statesOf(engine, ids[0]!, top), ["waiting", "blocked"]);
});

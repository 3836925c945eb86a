import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine, TestEngine } from "../testing/test-engine.ts";
import type { OldestJob } from "./oldest-survey.ts";

function oldest(engine: TestEngine): { found: Map<string, OldestJob>; steps: number } {
  const survey = engine.queries.surveyOldest();
  let steps = 1;
  while (survey.step()) steps++;
  return { found: survey.oldest(), steps };
}

test("the oldest waiting job of each queue is found, whatever lane it is in", () => {
  const engine = new TestEngine({ seed: 1 });
  for (const name of ["a", "b", "empty"]) engine.setQueue(name, {}, 0);
  engine.addAll("a", [{ fairnessKey: "late" }], 20);
  const [first] = engine.addAll("b", [{ fairnessKey: "x" }, { fairnessKey: "y" }], 30);
  engine.addAll("a", [{ fairnessKey: "later" }], 40);
  const { found } = oldest(engine);
  assert.deepEqual([...found.keys()].sort(), ["a", "b"]);
  assert.equal(found.get("a")?.addedAt, 20);
  assert.equal(found.get("b")?.addedAt, 30);
  assert.ok(first !== undefined);
});

test("a leased job does not count as waiting, and the next job does", () => {
  const engine = openEngine({}, { seed: 1 });
  engine.addAll("q", [{}], 1);
  engine.addAll("q", [{}], 2);
  assert.equal(oldest(engine).found.get("q")?.addedAt, 1);
  engine.lease("q", 1, 3);
  assert.equal(oldest(engine).found.get("q")?.addedAt, 2);
});

test("a failed job is the oldest even if it waits behind younger ones", () => {
  const engine = openEngine({ retry: { minMs: 0, maxMs: 0, jitter: 0 } }, { seed: 1 });
  engine.addAll("q", [{}], 1);
  engine.addAll("q", [{}, {}], 5);
  const [lease] = engine.lease("q", 1, 6);
  engine.nack(lease!.id, lease!.lease, 7, { error: "boom" });
  engine.tick(8);
  assert.equal(engine.queries.queueStats("q").waiting, 3);
  assert.deepEqual(oldest(engine).found.get("q")?.addedAt, 1);
});

test("reports when the first delayed job is due", () => {
  const engine = openEngine({}, { seed: 1 });
  engine.addAll("q", [{ delayMs: 900 }, { delayMs: 300 }, { delayMs: 600 }], 100);
  const { id, nextDueAt } = oldest(engine).found.get("q")!;
  assert.deepEqual([id, nextDueAt], [0, 400]);
});

test("many jobs are walked over in steps", () => {
  const engine = openEngine({ capacity: { jobs: 100_000 } }, { seed: 1 });
  for (let i = 0; i < 60_000; i++) engine.addAll("q", [{ fairnessKey: `t${i}` }], i);
  const { found, steps } = oldest(engine);
  assert.ok(steps >= 2, `${steps} steps`);
  assert.equal(found.get("q")?.addedAt, 0);
});

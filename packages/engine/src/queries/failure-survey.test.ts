import assert from "node:assert/strict";
import { test } from "node:test";
import { TestEngine } from "../testing/test-engine.ts";
import type { FailureView } from "./failure-survey.ts";
import type { JobFilter } from "./job-filter.ts";

const HOUR_MS = 3_600_000;

function failures(engine: TestEngine, filter: JobFilter = {}, now = 0): FailureView[] {
  const survey = engine.queries.surveyFailures(filter, now);
  while (survey.step());
  return survey.failures();
}

function fail(engine: TestEngine, queue: string, error: string, at: number): number {
  engine.addAll(queue, [{}], at);
  const [job] = engine.lease(queue, 1, at);
  engine.nack(job!.id, job!.lease, at, { error, stack: `at ${error}` });
  return job!.id;
}

function scene(): TestEngine {
  const engine = new TestEngine({ seed: 1 });
  engine.setQueue("a", { retry: { attempts: 1 } }, 0);
  engine.setQueue("b", { retry: { attempts: 1 }, dlq: false, results: { ms: 24 * HOUR_MS } }, 0);
  engine.setQueue("c", { retry: { attempts: 2 } }, 0);
  fail(engine, "a", "timeout after 10 ms", HOUR_MS);
  fail(engine, "b", "timeout after 20 ms", 2 * HOUR_MS);
  fail(engine, "c", "timeout after 30 ms", 3 * HOUR_MS);
  fail(engine, "a", "no such user", 3 * HOUR_MS);
  return engine;
}

test("jobs whose errors differ in numbers alone are one failure, over all queues", () => {
  const [first, second, ...rest] = failures(scene(), {}, 3 * HOUR_MS);
  assert.deepEqual(rest, []);
  assert.equal(first!.error, "timeout after # ms");
  assert.deepEqual([first!.jobs, first!.retrying], [2, 1]);
  assert.deepEqual([first!.firstAt, first!.lastAt], [HOUR_MS, 3 * HOUR_MS]);
  assert.deepEqual([...first!.queues].sort(), [
    ["a", 1],
    ["b", 1],
    ["c", 1],
  ]);
  assert.equal(first!.trend.length, 24);
  assert.deepEqual(first!.trend.slice(-4), [0, 1, 1, 1]);
  const { id, ...example } = first!.example;
  assert.equal(id, 3);
  const error = "timeout after 30 ms";
  assert.deepEqual(example, { queue: "c", error, at: 3 * HOUR_MS, stack: `at ${error}` });
  assert.equal(second!.error, "no such user");
});

test("a filter by a failure means the jobs of its group", () => {
  const engine = scene();
  const [{ failure }] = failures(engine) as [FailureView];
  const count = engine.queries.countJobs({ failure, states: ["dead", "failed"] });
  while (count.step());
  assert.equal(count.count, 2);
  assert.deepEqual([...count.states].sort(), [
    ["dead", 1],
    ["failed", 1],
  ]);
});

test("what finished after a failure, or is older than asked for, is no failure", () => {
  const engine = scene();
  const now = 4 * HOUR_MS;
  engine.tick(now);
  const [again] = engine.lease("c", 1, now);
  engine.ack(again!.id, again!.lease, now);
  assert.equal(failures(engine, {}, now)[0]!.retrying, 0);
  const since = 2 * HOUR_MS;
  assert.deepEqual(
    failures(engine, { since }, now).map(({ jobs }) => jobs),
    [1, 1],
  );
  assert.deepEqual(failures(engine, { queues: ["nowhere"] }, now), []);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { EngineOptions } from "../core.ts";
import type { Fact } from "../facts/facts.ts";
import { rebuilt, TestEngine } from "../testing/test-engine.ts";

const NONE = Number.POSITIVE_INFINITY;

function open(keptMax: Partial<NonNullable<EngineOptions["keptMax"]>>): {
  engine: TestEngine;
  facts: Fact[];
  again: () => TestEngine;
} {
  const facts: Fact[] = [];
  const max = { jobs: NONE, resultBytes: NONE, payloadBytes: NONE, ...keptMax };
  const engine = new TestEngine({ keptMax: max, facts });
  for (const name of ["a", "b"]) engine.setQueue(name, {}, 0);
  return { engine, facts, again: () => rebuilt(facts, new TestEngine({ keptMax: max })) };
}

function finish(engine: TestEngine, queue: string, now: number, result?: Uint8Array): number {
  engine.add(queue, { sizeBytes: 10 }, now);
  const [job] = engine.lease(queue, 1, now);
  engine.ack(job!.id, job!.lease, now, result);
  return job!.id;
}

function kept(engine: TestEngine): number[] {
  const search = engine.queries.searchJobs({ order: "oldest", limit: 100 });
  while (search.step());
  return search.found().jobs.map(({ id }) => id);
}

test("all queues share a budget of kept jobs, and the oldest are forgotten first", () => {
  const { engine, again } = open({ jobs: 3 });
  for (const queue of ["a", "b", "a", "a", "b"]) finish(engine, queue, 1);
  assert.deepEqual(kept(engine), [3, 4, 5]);
  assert.deepEqual(kept(again()), [3, 4, 5]);
  finish(engine, "b", 2);
  assert.deepEqual(kept(engine), [4, 5, 6]);
});

test("a job that is taken from the list leaves room, and a deleted queue does", () => {
  const { engine, again } = open({ jobs: 3 });
  for (const queue of ["a", "b", "a"]) finish(engine, queue, 1);
  engine.retry(1, 2);
  finish(engine, "b", 3);
  assert.deepEqual(kept(engine), [1, 2, 3, 4]);
  engine.deleteQueue("b", 4);
  while (engine.nextWake(4) <= 4) engine.tick(4);
  engine.setQueue("c", {}, 5);
  for (const queue of ["c", "c", "c"]) finish(engine, queue, 6);
  assert.deepEqual(kept(engine).slice(-3), [5, 6, 7]);
  assert.equal(engine.queries.queueStats("a").kept, 0);
  assert.deepEqual(kept(again()), kept(engine));
});

test("results and payloads have budgets of their own", () => {
  const results = open({ resultBytes: 25 }).engine;
  for (let i = 0; i < 4; i++) finish(results, "a", 1, new Uint8Array(10));
  assert.deepEqual(kept(results), [3, 4]);
  const payloads = open({ payloadBytes: 25 }).engine;
  for (let i = 0; i < 4; i++) finish(payloads, "b", 1);
  assert.deepEqual(kept(payloads), [3, 4]);
});

test("no budget at all keeps nothing", () => {
  const { engine } = open({ jobs: 0 });
  finish(engine, "a", 1);
  assert.deepEqual(kept(engine), []);
});

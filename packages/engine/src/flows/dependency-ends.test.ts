import assert from "node:assert/strict";
import { test } from "node:test";
import { ROWS_PER_STEP } from "../tables/table-walk.ts";
import {
  each,
  fill,
  openEngine,
  openTelling,
  rebuilt,
  type TestEngine,
} from "../testing/test-engine.ts";
import type { Dependency, JobSpec } from "../types.ts";

const stateOf = (engine: TestEngine, id: number) => engine.queries.job(id)?.state;

function add(engine: TestEngine, spec: JobSpec = {}): number {
  return engine.add("q", spec, 0).id;
}

function after(engine: TestEngine, ...dependencies: Dependency[]): number {
  return add(engine, { dependencies });
}

function finish(engine: TestEngine, id: number): void {
  const { lease } = engine.lease("q", 1, 0).find((one) => one.id === id)!;
  engine.ack(id, lease, 0);
}

function die(engine: TestEngine, ...ids: number[]): void {
  for (const { id, lease } of engine.lease("q", ids.length, 0)) {
    engine.nack(id, lease, 0, { error: "boom", unrecoverable: true });
  }
}

/** A job that is dead, and one that is added after it and has not failed by it yet. */
function doomed(engine: TestEngine): { dead: number; last: number } {
  const dead = add(engine);
  die(engine, dead);
  engine.tick(0);
  return { dead, last: after(engine, { id: dead }) };
}

test("a job that is added after a dead one fails by it", () => {
  const engine = openEngine();
  const { last } = doomed(engine);
  assert.equal(stateOf(engine, last), "blocked");
  engine.tick(0);
  assert.equal(stateOf(engine, last), "failed");
});

test("a job that is about to fail by another fails after a restart", () => {
  const { engine } = openTelling();
  const { last } = doomed(engine);
  const again = rebuilt([...engine.snapshot()]);
  assert.equal(stateOf(again, last), "blocked");
  again.tick(0);
  assert.equal(stateOf(again, last), "failed");
});

test("a job that is cancelled before it fails by another is cancelled", () => {
  const engine = openEngine();
  const { last } = doomed(engine);
  engine.cancel(last, 0);
  engine.tick(0);
  assert.equal(stateOf(engine, last), "cancelled");
});

test("a job that is purged before it fails by another is cancelled", () => {
  const engine = openEngine();
  // More than one step of the purge.
  fill(engine, 2 * ROWS_PER_STEP, { delayMs: 1000 });
  const { last } = doomed(engine);
  engine.purge("q", 0);
  assert.equal(stateOf(engine, last), "blocked");
  engine.tick(0);
  assert.equal(stateOf(engine, last), "cancelled");
});

test("a new job does not go on in the place of one that was to fail and is forgotten", () => {
  const engine = openEngine();
  engine.setQueue("r", {}, 0);
  const { dead } = doomed(engine);
  engine.tick(0);
  const open = add(engine, { delayMs: 1000 });
  // All but one of the things that a call does, so that the deadline is the last of them.
  fill(engine, 999, { delayMs: 10 });
  const gone = engine.add("r", { dependencies: [{ id: dead }], ttlMs: 10 }, 0).id;
  engine.deleteQueue("r", 0);
  engine.tick(10);
  assert.equal(stateOf(engine, gone), undefined);
  const next = after(engine, { id: open });
  engine.tick(10);
  assert.equal(stateOf(engine, next), "blocked");
});

test("a job fails once although two that it waits for die", () => {
  const { engine, facts } = openTelling();
  const ids = [add(engine), add(engine)];
  const last = after(engine, { id: ids[0]! }, { id: ids[1]! });
  die(engine, ...ids);
  engine.tick(0);
  const ends = facts.filter((fact) => fact.fact === "ended" && fact.id === last);
  assert.deepEqual(each(ends, "fact"), ["ended"]);
  assert.equal(stateOf(engine, last), "failed");
});

test("a job fails by the first end of another that ends twice", () => {
  const engine = openEngine();
  const first = add(engine);
  const last = after(engine, { id: first });
  die(engine, first);
  engine.cancel(first, 0);
  engine.tick(0);
  assert.equal(stateOf(engine, first), "cancelled");
  assert.match(engine.queries.job(last)!.error!, /is dead: boom/);
});

test("those that wait for a letter go on though it finishes while they learn of its death", () => {
  const engine = openEngine();
  const first = add(engine);
  const rest = Array.from({ length: 3000 }, () => after(engine, { id: first, on: "wait" }));
  die(engine, first);
  engine.retry(first, 0);
  finish(engine, first);
  for (let i = 0; i < 20; i++) engine.tick(0);
  assert.ok(rest.every((id) => stateOf(engine, id) === "waiting"));
});

test("those that wait for one job learn of its end though one of them ends meanwhile", () => {
  const engine = openEngine();
  const first = add(engine);
  const rest = Array.from({ length: 3000 }, () => after(engine, { id: first }));
  finish(engine, first);
  engine.tick(0);
  // Here the walk has come to.
  const next = rest.find((id) => engine.queries.job(id)?.waitsFor === 1)!;
  assert.ok(next > rest[0]!);
  engine.cancel(next, 0);
  for (let i = 0; i < 10; i++) engine.tick(0);
  const left = rest.filter((id) => stateOf(engine, id) !== "waiting");
  assert.deepEqual(left, [next]);
});

test("a job that waits for one of a deleted queue still names it", () => {
  const engine = openEngine();
  engine.setQueue("r", {}, 0);
  const { id } = engine.add("r", {}, 0);
  const last = after(engine, { id, on: "wait" });
  engine.deleteQueue("r", 0);
  for (let i = 0; i < 10; i++) engine.tick(0);
  assert.equal(stateOf(engine, id), undefined);
  assert.equal(stateOf(engine, last), "blocked");
  assert.deepEqual(engine.queries.record(last)?.after, [{ id, on: "wait" }]);
});

test("a job that is retried before it lets go of others does not wait for them", () => {
  const { engine } = openTelling();
  const first = add(engine);
  const last = after(engine, { id: first });
  engine.cancel(last, 0);
  engine.retry(last, 0);
  const again = rebuilt([...engine.snapshot()]);
  assert.deepEqual([stateOf(again, first), stateOf(again, last)], ["waiting", "waiting"]);
  finish(again, first);
  again.tick(0);
  assert.equal(stateOf(again, last), "waiting");
  finish(again, last);
  assert.equal(stateOf(again, last), "finished");
});

test("a released job is kept among the last that ended, and the oldest goes", () => {
  const engine = openEngine({ results: { jobs: 1 } });
  const first = add(engine);
  const last = after(engine, { id: first });
  finish(engine, first);
  finish(engine, last);
  engine.tick(0);
  const kept = [first, last].filter((id) => stateOf(engine, id) !== undefined);
  assert.equal(kept.length, 1);
  assert.equal(engine.queries.queueStats("q").kept, 1);
});

test("a job that was to be released is released after a restart", () => {
  const { engine, facts } = openTelling({ results: { jobs: 0 } });
  const first = add(engine);
  const last = after(engine, { id: first });
  finish(engine, first);
  finish(engine, last);
  const again = rebuilt([...engine.snapshot()]);
  assert.equal(stateOf(again, first), "finished");
  again.tick(0);
  assert.equal(stateOf(again, first), undefined);
  engine.tick(0);
  const copy = rebuilt([...facts]);
  assert.deepEqual([stateOf(copy, first), stateOf(copy, last)], [undefined, undefined]);
});

test("the release of a job that is not known also counts as an entry", () => {
  const { engine, facts } = openTelling({ results: { jobs: 0 } });
  const first = add(engine);
  const last = after(engine, { id: first });
  finish(engine, first);
  finish(engine, last);
  const opening = [...engine.checkpoint()].flat();
  facts.length = 0;
  engine.tick(0);
  const copy = rebuilt([...opening, ...facts]);
  assert.deepEqual([...copy.checkpoint()][0], [...engine.checkpoint()][0]);
});

test("a death that comes before the record of its job fails the jobs that wait for it", () => {
  const { engine, facts } = openTelling();
  const first = add(engine, { group: "g" });
  const last = after(engine, { id: first });
  const before = [...engine.snapshot()].filter(
    (fact) => fact.fact !== "moved" || fact.job.id === last,
  );
  facts.length = 0;
  die(engine, first);
  const again = rebuilt([...before, ...facts]);
  again.tick(0);
  assert.equal(stateOf(again, last), "failed");
  assert.match(again.queries.job(last)!.error!, /is dead/);
});

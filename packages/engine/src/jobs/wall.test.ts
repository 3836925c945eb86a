import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact } from "../facts/facts.ts";
import { openTelling, TestEngine } from "../testing/test-engine.ts";

const HOUR_MS = 3_600_000;

function opened(): { engine: TestEngine; facts: Fact[] } {
  const { engine, facts } = openTelling({ results: { jobs: 0 } });
  return { engine, facts };
}

/** Lets the engine do all that it has to do at this time. */
function settle(engine: TestEngine, now: number): void {
  while (engine.nextWake(now) <= now) engine.tick(now);
}

const at = (engine: TestEngine, id: number): number | undefined => engine.queries.job(id)?.at;

test("a step of the wall clock moves jobs with a time on it, forward and back", () => {
  const { engine } = opened();
  const { id } = engine.add("q", { runAt: 2 * HOUR_MS }, 0);
  engine.setWallAhead(HOUR_MS, 1000);
  settle(engine, 1000);
  assert.equal(at(engine, id), HOUR_MS);
  engine.setWallAhead(-HOUR_MS, 2000);
  settle(engine, 2000);
  assert.equal(at(engine, id), 3 * HOUR_MS);
  assert.equal(engine.nextWake(2000), 3 * HOUR_MS);
  settle(engine, 3 * HOUR_MS);
  assert.equal(engine.queries.job(id)?.state, "waiting");
});

test("delays, leases and lives are not moved", () => {
  const { engine } = opened();
  const delayed = engine.add("q", { delayMs: HOUR_MS, ttlMs: 2 * HOUR_MS }, 0).id;
  const leased = engine.add("q", { leaseMs: 5000 }, 0).id;
  engine.want("q", "w", 1, 0);
  engine.dispatch(0, 10);
  engine.setWallAhead(24 * HOUR_MS, 1000);
  settle(engine, 1000);
  assert.equal(at(engine, delayed), HOUR_MS);
  assert.equal(engine.queries.job(delayed)?.deadline, 2 * HOUR_MS);
  assert.equal(at(engine, leased), 5000);
});

test("a deadline on the wall passes when the wall says so", () => {
  const { engine, facts } = opened();
  const { id } = engine.add("q", { deadline: HOUR_MS }, 0);
  engine.setWallAhead(-HOUR_MS, 1000);
  settle(engine, HOUR_MS);
  assert.equal(engine.queries.job(id)?.state, "waiting");
  assert.equal(engine.queries.job(id)?.deadline, 2 * HOUR_MS);
  engine.setWallAhead(0, HOUR_MS + 1);
  settle(engine, HOUR_MS + 1);
  const end = facts.find((fact) => fact.fact === "ended");
  assert.equal(end?.fact === "ended" && end.ending, "expired");
});

test("nothing goes out too early while the walk is on its way", () => {
  const { engine } = opened();
  for (let i = 0; i < 3_000; i++) engine.add("q", {}, 0);
  const { id } = engine.add("q", { runAt: 5000 }, 0);
  engine.setWallAhead(-HOUR_MS, 5000);
  // One call is not enough to come to the job, whose timer has fired already.
  engine.tick(5000);
  assert.equal(engine.queries.job(id)?.state, "delayed");
  settle(engine, 5000);
  assert.equal(at(engine, id), 5000 + HOUR_MS);
});

test("a job put off, retried or replaced goes by the engine's time from then on", () => {
  const { engine } = opened();
  const { id } = engine.add("q", { runAt: 5000, backoff: { minMs: 1000, jitter: 0 } }, 0);
  settle(engine, 5000);
  engine.want("q", "w", 1, 5000);
  const [lease] = engine.dispatch(5000, 1);
  engine.nack(id, lease!.lease, 5000);
  assert.equal(at(engine, id), 6000);
  engine.setWallAhead(HOUR_MS, 5500);
  settle(engine, 5500);
  assert.equal(at(engine, id), 6000);
});

test("a replay comes to the same times, wherever a walk was", () => {
  const { engine, facts } = opened();
  for (let i = 0; i < 4_000; i++) engine.add("q", {}, 0);
  const ids = [1, 2, 3].map((n) => engine.add("q", { runAt: n * HOUR_MS }, 0).id);
  const timed = engine.add("q", { deadline: 9 * HOUR_MS }, 0).id;
  engine.setWallAhead(HOUR_MS / 2, 1000);
  engine.tick(1000);
  const isUnderWay = engine.nextWake(1000) <= 1000;
  assert.ok(isUnderWay);
  const copy = new TestEngine({});
  for (const fact of facts) copy.apply(fact);
  copy.endReplay();
  const snapshot = new TestEngine({});
  for (const fact of engine.snapshot()) snapshot.apply(structuredClone(fact));
  settle(engine, 1000);
  for (const other of [copy, snapshot]) {
    assert.deepEqual(other.wall, engine.wall);
    for (const id of ids) assert.equal(at(other, id), at(engine, id));
    assert.equal(other.queries.job(timed)?.deadline, engine.queries.job(timed)?.deadline);
  }
  assert.equal(at(engine, ids[0]!), HOUR_MS / 2);
});

test("a step among many jobs is worked off in many short calls", () => {
  const { engine } = opened();
  for (let i = 0; i < 40_000; i++) engine.add("q", { runAt: HOUR_MS + i }, 0);
  engine.setWallAhead(-HOUR_MS, 1);
  let calls = 0;
  for (; engine.nextWake(1) <= 1; calls++) engine.tick(1);
  assert.ok(calls >= 20, `${calls} calls`);
});

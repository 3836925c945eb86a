import assert from "node:assert/strict";
import { test } from "node:test";
import { each, openEngine, openTelling, rebuilt, type TestEngine } from "../testing/test-engine.ts";
import type { JobSpec } from "../types.ts";

const ordered = { ordered: true, leaseMs: 1000, retry: { attempts: 2, minMs: 100, jitter: 0 } };

function add(engine: TestEngine, count: number, spec: JobSpec = {}): number[] {
  return Array.from({ length: count }, () => {
    return engine.add("q", { fairnessKey: "acme", ...spec }, 0).id;
  });
}

function take(engine: TestEngine, now: number, max = 10): number[] {
  return each(engine.lease("q", max, now), "id");
}

test("jobs of an ordered lane go out one by one, each when the one ahead has ended", () => {
  const engine = openEngine(ordered);
  const [a, b, c] = add(engine, 3);
  assert.deepEqual(take(engine, 0), [a]);
  assert.deepEqual(take(engine, 1), []);
  engine.ack(a!, 1, 2);
  assert.deepEqual(take(engine, 2), [b]);
  engine.cancel(b!, 3);
  assert.deepEqual(take(engine, 3), [c]);
});

test("lanes and tiers do not wait for each other", () => {
  const engine = openEngine(ordered);
  const [a] = add(engine, 2);
  const other = engine.add("q", { fairnessKey: "globex" }, 0).id;
  const urgent = engine.add("q", { fairnessKey: "acme", priority: 0 }, 0).id;
  assert.deepEqual(take(engine, 0).sort(), [a, other, urgent].sort());
});

test("a delayed or retrying head blocks its lane", () => {
  const engine = openEngine(ordered);
  const [a] = add(engine, 1, { delayMs: 500 });
  const [b] = add(engine, 1);
  assert.deepEqual(take(engine, 0), []);
  assert.deepEqual(take(engine, 500), [a]);
  engine.nack(a!, 1, 500);
  assert.deepEqual(take(engine, 500), []);
  assert.deepEqual(take(engine, 600), [a]);
  engine.ack(a!, 2, 600);
  assert.deepEqual(take(engine, 600), [b]);
});

test("a dead head does not block its lane, and a letter that returns goes to the end", () => {
  const engine = openEngine(ordered);
  const [a, b, c] = add(engine, 3);
  assert.deepEqual(take(engine, 0), [a]);
  engine.nack(a!, 1, 0, { unrecoverable: true });
  assert.deepEqual(take(engine, 0), [b]);
  engine.redrive("q.dlq", {}, 1);
  engine.ack(b!, 1, 2);
  assert.deepEqual(take(engine, 2), [c]);
  engine.ack(c!, 1, 3);
  assert.deepEqual(take(engine, 3), [a]);
});

test("held jobs count as waiting, expire, and can be cancelled and purged", () => {
  const engine = openEngine(ordered);
  const [a, b] = add(engine, 2);
  const [dated] = add(engine, 1, { ttlMs: 50 });
  add(engine, 3);
  assert.deepEqual(take(engine, 0), [a]);
  assert.equal(engine.queries.queueStats("q").waiting, 5);
  assert.equal(engine.queries.jobs("q", { state: "waiting" }).jobs.length, 5);
  engine.tick(60);
  assert.equal(engine.queries.job(dated!)?.state, "expired");
  engine.cancel(b!, 60);
  engine.purge("q", 61);
  engine.ack(a!, 1, 62);
  assert.deepEqual(take(engine, 63), []);
  assert.equal(engine.queries.queueStats("q").waiting, 0);
});

test("a purge reaches the jobs that it releases", () => {
  const engine = openEngine(ordered);
  const ids = add(engine, 20);
  engine.purge("q", 1);
  assert.deepEqual(take(engine, 2), []);
  for (const id of ids) assert.equal(engine.queries.job(id)?.state, "cancelled");
});

test("why names the job ahead, and the place in the order", () => {
  const engine = openEngine(ordered);
  const [a, b, c] = add(engine, 3);
  engine.want("q", "w", 1, 0);
  engine.dispatch(0);
  const why = engine.queries.why(c!, 0);
  assert.ok(why.state === "waiting" && why.reason === "ordered");
  assert.deepEqual([why.ahead, why.place], [a, 2]);
  assert.equal((engine.queries.why(b!, 0) as { place: number }).place, 1);
});

test("jobs that are not ordered pass those that are", () => {
  const engine = openEngine();
  const [a] = add(engine, 2, { ordered: true });
  const [free] = add(engine, 1);
  assert.deepEqual(take(engine, 0), [a, free]);
});

test("a replaced or debounced payload reaches a job that is held", () => {
  const engine = openEngine(ordered);
  const [a] = add(engine, 1);
  const dedupe = { key: "k", mode: "debounce" as const };
  const { id } = engine.add("q", { fairnessKey: "acme", delayMs: 10, dedupe, body: 1 }, 0);
  engine.add("q", { fairnessKey: "acme", delayMs: 10, dedupe, body: 2 }, 5);
  assert.deepEqual(take(engine, 6), [a]);
  engine.ack(a!, 1, 6);
  assert.deepEqual(take(engine, 14), []);
  assert.deepEqual(take(engine, 15), [id]);
  assert.equal(engine.body(id), 2);
});

test("the order survives a restart, also when jobs are emitted again out of order", () => {
  const { engine, facts } = openTelling(ordered);
  const ids = add(engine, 6);
  assert.deepEqual(take(engine, 0), [ids[0]]);
  const fromFacts = rebuilt([...facts]);
  const snapshot = [...engine.snapshot()];
  const jobs = snapshot.filter(({ fact }) => fact === "moved");
  const rest = snapshot.filter(({ fact }) => fact !== "moved");
  const mixed = [jobs[4]!, jobs[0]!, jobs[2]!, jobs[1]!, jobs[5]!, jobs[3]!];
  for (const again of [fromFacts, rebuilt([...rest, ...mixed])]) {
    for (const [i, id] of ids.entries()) {
      again.ack(id, 1, 10);
      assert.deepEqual(take(again, 10), ids.slice(i + 1, i + 2));
    }
  }
});

test("jobs that are emitted again in any order take their places by age", () => {
  for (const isOrdered of [true, false]) {
    const { engine } = openTelling({ ...ordered, ordered: isOrdered });
    const ids = add(engine, 9);
    const snapshot = [...engine.snapshot()];
    const jobs = snapshot.filter(({ fact }) => fact === "moved");
    const rest = snapshot.filter(({ fact }) => fact !== "moved");
    const mixed = [0, 8, 1, 4, 6, 7, 2, 5, 3].map((i) => jobs[i]!);
    const again = rebuilt([...rest, ...mixed]);
    const taken: number[] = [];
    for (let i = 0; i < ids.length; i++) {
      const [lease] = again.lease("q", 1, 10);
      taken.push(lease!.id);
      again.ack(lease!.id, lease!.lease, 10);
    }
    assert.deepEqual(taken, ids);
  }
});

test("a job that returns to an empty lane is first in it, also after a restart", () => {
  const { engine, facts } = openTelling(ordered);
  const [a] = add(engine, 1);
  assert.deepEqual(take(engine, 0), [a]);
  engine.ack(a!, 1, 1);
  engine.retry(a!, 2);
  const [b] = add(engine, 1);
  for (const each of [rebuilt([...facts]), engine]) {
    assert.deepEqual(take(each, 3), [a]);
    each.ack(a!, 2, 4);
    assert.deepEqual(take(each, 5), [b]);
  }
});

test("a held job with a time on the wall is released when it is due there", () => {
  const { engine, facts } = openTelling(ordered);
  const [a] = add(engine, 1);
  const [b] = add(engine, 1, { runAt: 1000 });
  assert.deepEqual(take(engine, 0), [a]);
  engine.setWallAhead(400, 1);
  engine.ack(a!, 1, 2);
  for (const each of [rebuilt([...facts]), engine]) {
    assert.deepEqual(take(each, 599), []);
    assert.deepEqual(take(each, 600), [b]);
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { countOf, openEngine, type QueueChange, type TestEngine } from "../testing/test-engine.ts";
import type { FairnessKey, JobSpec } from "../types.ts";

function open(options: QueueChange = {}): TestEngine {
  const engine = openEngine({ results: { jobs: 0 }, ...options });
  return engine;
}

function fill(engine: TestEngine, count: number, key: FairnessKey, spec: JobSpec = {}): void {
  for (let i = 0; i < count; i++) {
    engine.add("q", { fairnessKey: key, body: String(key), ...spec }, 0);
  }
}

/** Takes the next jobs and acknowledges them; answers whose they were. */
function served(engine: TestEngine, count: number): string[] {
  const leases = engine.lease("q", count, 0);
  for (const { id, lease } of leases) engine.ack(id, lease, 0);
  return leases.map(({ body }) => String(body));
}

test("a path is fair between its first level, then between the keys below", () => {
  const engine = open();
  const keys: FairnessKey[] = [["a", "1"], ["a", "2"], ["a", "3"], "b"];
  for (const key of keys) fill(engine, 30, key);
  const order = served(engine, 30);
  assert.equal(countOf(order, "b"), 15);
  for (const key of ["a,1", "a,2", "a,3"]) assert.equal(countOf(order, key), 5);
});

test("four levels are fair one by one", () => {
  const engine = open();
  const keys = [["x", "a", "1", "p"], ["x", "a", "1", "q"], ["x", "a", "2"], ["x", "b"], ["y"]];
  for (const key of keys) fill(engine, 40, key);
  const order = served(engine, 32);
  assert.deepEqual(
    keys.map((key) => countOf(order, String(key))),
    [2, 2, 4, 8, 16],
  );
});

test("a string is never split: it has nothing to do with a path of its parts", () => {
  const engine = open();
  fill(engine, 9, "a/1");
  fill(engine, 9, ["a", "1"]);
  const keys = engine.queries.lanes("q").lanes.map((lane) => lane.key);
  assert.deepEqual(keys, ["a/1", ["a", "1"]]);
  assert.equal(countOf(served(engine, 8), "a/1"), 4);
});

test("a path of one level is that key", () => {
  const engine = open();
  fill(engine, 1, ["a"]);
  fill(engine, 1, "a");
  assert.equal(engine.queries.job(1)?.fairnessKey, "a");
  assert.equal(engine.queries.lanes("q").lanes.length, 1);
});

test("a key that is a lane and a level has one share in all, whichever came first", () => {
  for (const keys of [
    ["a", ["a", "1"]],
    [["a", "1"], "a"],
  ]) {
    const engine = open();
    for (const key of keys) fill(engine, 40, key);
    fill(engine, 40, "b");
    const order = served(engine, 40);
    assert.deepEqual(
      ["b", "a", "a,1"].map((key) => countOf(order, key)),
      [20, 10, 10],
    );
    assert.deepEqual(
      engine.queries
        .lanes("q")
        .lanes.map((lane) => String(lane.key))
        .toSorted(),
      ["a", "a,1", "b"],
    );
  }
});

test("a lane becomes a level while it is served, idle or all its jobs are leased", () => {
  const engine = open();
  fill(engine, 3, "a", { weight: 4 });
  const leases = engine.lease("q", 3, 0);
  fill(engine, 2, ["a", "x"]);
  assert.equal(engine.queries.job(1)?.fairnessKey, "a");
  for (const { id, lease } of leases) engine.giveBack(id, lease, 0);
  assert.equal(served(engine, 9).length, 5);
  fill(engine, 1, "idle");
  fill(engine, 20, "busy");
  served(engine, 4);
  fill(engine, 2, ["idle", "x"]);
  fill(engine, 2, "idle");
  const order = served(engine, 40);
  assert.deepEqual([countOf(order, "idle,x"), countOf(order, "idle")], [2, 2]);
});

test("a lane that becomes a level keeps its lead, and gains nothing by it", () => {
  const engine = open();
  fill(engine, 1, "a", { cost: 10 });
  fill(engine, 40, "b");
  served(engine, 2);
  fill(engine, 5, ["a", "1"]);
  assert.deepEqual(new Set(served(engine, 7)), new Set(["b"]));
});

test("a level's own lane that is forgotten comes back, and the level stays", () => {
  const engine = open();
  fill(engine, 1, "a");
  fill(engine, 30, ["a", "1"]);
  fill(engine, 30, "b");
  served(engine, 40);
  for (let i = 0; i < 20; i++) {
    fill(engine, 1, `other-${i}`);
    served(engine, 2);
  }
  fill(engine, 2, "a");
  fill(engine, 2, ["a", "1"]);
  assert.equal(countOf(served(engine, 60), "a"), 2);
});

test("lanes that come and go leave nothing behind", () => {
  const engine = open();
  const round = (i: number): void => {
    const key = (j: number): FairnessKey => (j % 2 === 0 ? `k${i}-${j}` : [`t${i}`, `u${j}`]);
    for (let j = 0; j < 100; j++) fill(engine, 1, key(j), { gates: j % 3 === 0 ? ["g"] : [] });
    assert.equal(served(engine, 200).length, 100);
  };
  for (let i = 0; i < 20; i++) round(i);
  const before = engine.queries.memory();
  for (let i = 20; i < 200; i++) round(i);
  const after = engine.queries.memory();
  assert.ok(after.lanes <= before.lanes * 1.5, `${before.lanes} to ${after.lanes}`);
  assert.ok(after.keys <= before.keys * 2, `${before.keys} to ${after.keys}`);
  assert.ok(engine.queries.lanes("q", { limit: 100_000 }).lanes.length <= 300);
});

test("a lane that leaves while others stay is remembered until its lead is gone", () => {
  const engine = open();
  fill(engine, 200, "busy");
  fill(engine, 1, "a", { cost: 20 });
  served(engine, 2);
  assert.equal(engine.queries.queueStats("q").lanes, 1);
  fill(engine, 1, "a");
  assert.equal(countOf(served(engine, 15), "a"), 0, "it has had its share in advance");
  assert.equal(countOf(served(engine, 10), "a"), 1);
});

test("a lane with many strands gives each its turn by age", () => {
  const engine = open();
  for (let i = 0; i < 200; i++) fill(engine, 1, "a", { gates: [`g${(i * 7) % 50}`], body: i });
  assert.deepEqual(
    served(engine, 200),
    Array.from({ length: 200 }, (_, i) => String(i)),
  );
});

test("a deep path that is done with is forgotten level by level", () => {
  const engine = open();
  for (let i = 0; i < 50; i++) {
    fill(engine, 1, [`a${i}`, "b", "c", "d"]);
    served(engine, 1);
  }
  const before = engine.queries.memory().lanes;
  for (let i = 50; i < 500; i++) {
    fill(engine, 1, [`a${i}`, "b", "c", "d"]);
    served(engine, 1);
  }
  assert.ok(engine.queries.memory().lanes <= before * 2);
});

test("the keys below a level that is done with are forgotten, however many they were", () => {
  const engine = open();
  engine.want("q", "w", 1_000_000, 0);
  const tenant = (i: number): void => {
    for (let j = 0; j < 10; j++) fill(engine, 2, [`t${i}`, `u${j}`]);
    for (let j = 0; j < 20; j++) {
      const [lease] = engine.dispatch(0, 1);
      engine.ack(lease!.id, lease!.lease, 0);
    }
  };
  for (let i = 0; i < 300; i++) tenant(i);
  assert.ok(engine.queries.lanes("q", { limit: 100_000 }).lanes.length < 100);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { countOf, TestEngine } from "../testing/test-engine.ts";
import type { FairnessKey, JobSpec } from "../types.ts";

function open(): TestEngine {
  const engine = new TestEngine();
  engine.setGate("g", { concurrency: 1 }, 0);
  engine.serve("q", { results: { jobs: 0 } });
  return engine;
}

function fill(engine: TestEngine, count: number, key: FairnessKey, spec: JobSpec = {}): void {
  for (let i = 0; i < count; i++) {
    engine.add("q", { fairnessKey: key, gates: ["g"], body: String(key), ...spec }, 0);
  }
}

function passed(engine: TestEngine, count: number): string[] {
  const bodies: string[] = [];
  for (let i = 0; i < count; i++) {
    const [lease] = engine.dispatch(0, 1);
    if (lease === undefined) break;
    engine.ack(lease.id, lease.lease, 0);
    bodies.push(String(lease.body));
  }
  return bodies;
}

/** Puts all lanes in line before the first permit is free. */
function queueUp(engine: TestEngine): void {
  engine.setGate("g", { rate: 0 }, 0);
  while (engine.nextWake(0) === 0) engine.dispatch(0);
  engine.setGate("g", { concurrency: 1 }, 0);
}

test("a path is fair behind a gate too, level by level", () => {
  const engine = open();
  const keys: FairnessKey[] = [["a", "1"], ["a", "2"], ["a", "3", "x"], ["a", "3", "y"], "b"];
  for (const key of keys) fill(engine, 40, key);
  queueUp(engine);
  const order = passed(engine, 36);
  assert.deepEqual(
    ["b", "a,1", "a,2", "a,3,x", "a,3,y"].map((key) => countOf(order, key)),
    [18, 6, 6, 3, 3],
  );
});

test("the weight of a level counts behind a gate", () => {
  const engine = open();
  engine.setQueue("q", { weights: { a: 3 } }, 0);
  for (const key of [
    ["a", "1"],
    ["a", "2"],
    ["b", "1"],
  ])
    fill(engine, 40, key);
  queueUp(engine);
  const order = passed(engine, 40);
  assert.equal(countOf(order, "b,1"), 10);
});

test("a level's weight that is set by hand counts behind the gate where it waits", () => {
  const engine = open();
  for (const key of [
    ["a", "1"],
    ["b", "1"],
  ])
    fill(engine, 60, key);
  queueUp(engine);
  passed(engine, 4);
  engine.setLaneWeight("q", "a", 3, 0);
  assert.equal(countOf(passed(engine, 40), "a,1"), 30);
});

test("a lane's weight that changes while it waits counts for the permits to come", () => {
  const engine = open();
  for (const key of ["a", "b"]) fill(engine, 60, key);
  queueUp(engine);
  passed(engine, 4);
  engine.setLaneWeight("q", "a", 3, 0);
  assert.equal(countOf(passed(engine, 40), "a"), 30);
});

test("a lane that becomes a level is fair behind the gate with its children", () => {
  const engine = open();
  fill(engine, 1, "a");
  assert.deepEqual(passed(engine, 1), ["a"]);
  for (const key of [["a", "1"], "a", "b"]) fill(engine, 40, key);
  queueUp(engine);
  const order = passed(engine, 40);
  assert.deepEqual(
    ["b", "a", "a,1"].map((key) => countOf(order, key)),
    [20, 10, 10],
  );
});

test("a lane that becomes a level while it waits in line loses no job", () => {
  const engine = open();
  for (const key of ["a", "b"]) fill(engine, 5, key);
  queueUp(engine);
  fill(engine, 5, ["a", "1"]);
  const order = passed(engine, 20);
  assert.equal(order.length, 15);
  fill(engine, 5, "a");
  fill(engine, 5, "b");
  assert.equal(passed(engine, 20).length, 10);
});

test("a lane's lead at a gate is its own, apart from that in its tier", () => {
  const engine = open();
  fill(engine, 60, "a", { gates: [] });
  fill(engine, 40, "a");
  fill(engine, 40, "b");
  queueUp(engine);
  const gated = countOf(passed(engine, 60), "b");
  assert.ok(gated >= 20, `b got ${gated}`);
});

test("lanes and gates that come and go behind one another leave nothing behind", () => {
  const engine = open();
  const round = (i: number): void => {
    const gate = `g${i}`;
    engine.setGate(gate, { concurrency: 2 }, 0);
    const keys = Array.from({ length: 10 }, (_, j) => (j < 9 ? `k${i}-${j}` : [`t${i}`, "u"]));
    for (const key of keys) fill(engine, 2, key, { gates: [gate], priority: i % 4 });
    assert.equal(passed(engine, 40).length, 20);
    engine.deleteGate(gate, 0);
  };
  for (let i = 0; i < 50; i++) round(i);
  const before = engine.queries.memory();
  for (let i = 50; i < 300; i++) round(i);
  const after = engine.queries.memory();
  assert.ok(after.lanes <= before.lanes * 1.5, `${before.lanes} to ${after.lanes}`);
  assert.ok(engine.gateKeys().length < 20, `${engine.gateKeys().length} gates`);
});

test("a queue that has gone from a gate does not count as one that shares it", () => {
  const engine = open();
  engine.serve("r", { results: { jobs: 0 } });
  engine.add("r", { gates: ["g"], body: "r", priority: 0 }, 0);
  engine.add("r", { gates: ["g"], body: "r", priority: 1 }, 0);
  fill(engine, 3, "q");
  assert.equal(passed(engine, 9).length, 5);
  engine.deleteQueue("r", 0);
  while (engine.nextWake(0) === 0) engine.dispatch(0);
  fill(engine, 3, "q");
  assert.equal(passed(engine, 9).length, 3);
});

test("a lane's lead at a gate is remembered while it has no job there", () => {
  const engine = open();
  fill(engine, 30, "b");
  fill(engine, 1, "a", { cost: 9 });
  fill(engine, 1, "a", { gates: ["elsewhere"] });
  engine.setGate("elsewhere", { rate: 0 }, 0);
  queueUp(engine);
  assert.equal(countOf(passed(engine, 2), "a"), 1);
  fill(engine, 3, "a");
  assert.equal(countOf(passed(engine, 7), "a"), 0, "it has had its share in advance");
  assert.equal(countOf(passed(engine, 12), "a"), 3);
});

test("a lane that is forgotten gives up its places at all its gates", () => {
  const engine = open();
  for (const gate of ["x", "y", "z"]) engine.setGate(gate, { concurrency: 1 }, 0);
  for (let i = 0; i < 200; i++) {
    for (const gate of ["x", "y", "z"]) {
      fill(engine, 2, `k${i}`, { gates: [gate] });
      fill(engine, 1, "busy", { gates: [gate] });
    }
    while (passed(engine, 20).length > 0) engine.tick(0);
  }
  assert.ok(engine.queries.lanes("q", { limit: 10_000 }).lanes.length < 50);
});

test("a lane's lead at a gate outlives what its tier remembers of it", () => {
  const engine = open();
  fill(engine, 30, "b");
  fill(engine, 1, "a", { cost: 9 });
  queueUp(engine);
  assert.equal(countOf(passed(engine, 2), "a"), 1);
  engine.setGate("g", { rate: 0 }, 0);
  fill(engine, 40, "c", { gates: [] });
  assert.equal(passed(engine, 40).length, 40);
  for (let i = 0; i < 20; i++) {
    fill(engine, 1, `n${i}`, { gates: [] });
    passed(engine, 1);
  }
  engine.setGate("g", { concurrency: 1 }, 0);
  fill(engine, 3, "a");
  assert.equal(countOf(passed(engine, 7), "a"), 0, "it has had its share in advance");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { openTelling, type TestEngine } from "../testing/test-engine.ts";
import type { FairnessKey } from "../types.ts";

function fill(engine: TestEngine, count: number, key: FairnessKey): void {
  for (let i = 0; i < count; i++) engine.add("q", { fairnessKey: key, body: String(key) }, 0);
}

/** How many of the next jobs each of these lanes gets. */
function shares(engine: TestEngine, count: number, names: string[]): number[] {
  const bodies = engine.lease("q", count, 0).map(({ body }) => body);
  return names.map((name) => bodies.filter((body) => body === name).length);
}

test("the weight of a lane is set by hand, for a lane that is there and for one to come", () => {
  const { engine, facts } = openTelling();
  for (const key of ["a", "b"]) fill(engine, 40, key);
  engine.setLaneWeight("q", "a", 3, 5);
  engine.setLaneWeight("q", "later", 7, 5);
  assert.deepEqual(facts.at(-1), { at: 5, fact: "weight", queue: "q", key: ["later"], weight: 7 });
  assert.deepEqual(shares(engine, 40, ["a", "b"]), [30, 10]);
  fill(engine, 1, "later");
  assert.equal(engine.queries.job(81)?.weight, 7);
  assert.deepEqual({ ...engine.queueConfig("q").weights }, { a: 3, later: 7 });
});

test("the weight of a level rules the level, that of a path its lane", () => {
  const { engine } = openTelling();
  const keys: FairnessKey[] = [["acme", "u"], ["acme", "v"], "other"];
  for (const key of keys) fill(engine, 60, key);
  engine.setLaneWeight("q", "acme", 3, 0);
  engine.setLaneWeight("q", ["acme", "u"], 2, 0);
  assert.deepEqual(shares(engine, 40, ["acme,u", "acme,v", "other"]), [20, 10, 10]);
});

test("new rules of a queue rule the lanes that are there", () => {
  const { engine } = openTelling();
  for (const key of ["a", "b"]) fill(engine, 40, key);
  engine.setQueue("q", { weights: { "a*": 3 } }, 0);
  assert.deepEqual(shares(engine, 40, ["a", "b"]), [30, 10]);
});

test("a gate gets its limits by its key, else by the longest pattern, whenever it is made", () => {
  const { engine } = openTelling();
  engine.add("q", { gates: ["idx:a", "idx:b:1"] }, 0);
  engine.setGate("idx:*", { concurrency: 2 }, 0);
  engine.setGate("idx:b*", { concurrency: 3 }, 0);
  engine.setGate("idx:c", { concurrency: 4 }, 0);
  engine.tick(0);
  engine.add("q", { gates: ["idx:b:2", "idx:c"] }, 0);
  const of = (key: string) => {
    const { config, pattern } = engine.queries.gateStats(key, 0);
    return [config?.concurrency, pattern];
  };
  assert.deepEqual(of("idx:a"), [2, "idx:*"]);
  assert.deepEqual(of("idx:b:1"), [3, "idx:b*"]);
  assert.deepEqual(of("idx:b:2"), [3, "idx:b*"]);
  assert.deepEqual(of("idx:c"), [4, undefined]);
  assert.deepEqual(of("idx:never-used"), [2, "idx:*"], "even for one who only looks");
  assert.deepEqual(of("other"), [undefined, undefined]);
  engine.deleteGate("idx:b*", 0);
  engine.tick(0);
  assert.deepEqual(of("idx:b:1"), [2, "idx:*"]);
  assert.deepEqual(engine.gateKeys(), ["idx:*", "idx:a", "idx:b:1", "idx:b:2", "idx:c"]);
});

test("a pattern that matches many gates is put into effect over several calls", () => {
  const { engine } = openTelling();
  for (let i = 0; i < 3000; i++) engine.add("q", { gates: [`p:${i}`] }, 0);
  engine.setGate("p:*", { rate: 0 }, 0);
  assert.equal(engine.nextWake(0), 0);
  engine.tick(0);
  assert.equal(engine.queries.gateStats("p:2999", 0).config, undefined, "not yet");
  for (let calls = 0; engine.nextWake(0) === 0; calls++) {
    assert.ok(calls < 20);
    engine.tick(0);
  }
  assert.equal(engine.queries.gateStats("p:2999", 0).config?.rate, 0);
  assert.equal(engine.queries.gateStats("p:0", 0).config?.rate, 0);
});

test("deleting a gate ends its cooldown, opens it and wakes the jobs that wait", () => {
  const { engine, facts } = openTelling();
  engine.setGate("g", { rate: 0, ladder: [5000] }, 0);
  engine.reportGate("g", false, 0);
  for (const key of ["a", "b"]) engine.add("q", { fairnessKey: key, gates: ["g"] }, 0);
  engine.want("q", "w", 9, 0);
  assert.deepEqual(engine.dispatch(0), []);
  engine.deleteGate("g", 10);
  assert.deepEqual(facts.at(-1), { at: 10, fact: "gate", key: "g", config: undefined });
  assert.equal(engine.nextWake(10), 10);
  assert.equal(engine.dispatch(10).length, 2);
  assert.throws(() => engine.deleteGate("g", 10), { code: "GATE_NOT_FOUND" });
});

test("limits change at run time, at the current level, and wake jobs that may pass now", () => {
  const { engine } = openTelling();
  engine.setGate("g", { concurrency: 1 }, 0);
  for (const key of ["a", "b", "c"]) engine.add("q", { fairnessKey: key, gates: ["g"] }, 0);
  engine.want("q", "w", 9, 0);
  assert.equal(engine.dispatch(0).length, 1);
  engine.setGate("g", { concurrency: 2 }, 0);
  assert.equal(engine.dispatch(0).length, 1, "one is leased already");
  engine.setGate("g", { rate: 1, burst: 1 }, 0);
  assert.equal(engine.dispatch(0).length, 1);
});

test("the weight of a queue behind a shared gate can be changed while it waits there", () => {
  const { engine } = openTelling();
  engine.setQueue("r", {}, 0);
  engine.setGate("g", { concurrency: 1 }, 0);
  for (const queue of ["q", "r"]) {
    for (let i = 0; i < 60; i++) engine.add(queue, { gates: ["g"] }, 0);
    engine.want(queue, queue, 100, 0);
  }
  const next = (count: number): string[] =>
    Array.from({ length: count }, () => {
      const [lease] = engine.dispatch(0);
      engine.ack(lease!.id, lease!.lease, 0);
      return lease!.queue;
    });
  const even = next(20);
  assert.equal(even.filter((queue) => queue === "q").length, 10);
  engine.setQueue("r", { weight: 3 }, 0);
  const share = next(40).filter((queue) => queue === "r").length;
  assert.ok(Math.abs(share - 30) <= 1, `${share} of 40`);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { countOf, TestEngine } from "../testing/test-engine.ts";
import type { JobSpec, Lease } from "../types.ts";
import type { GateConfig } from "./gate-state.ts";

/** A queue behind a gate, its workers always free. */
function open(config: GateConfig = { concurrency: 1 }): TestEngine {
  const engine = new TestEngine();
  engine.setGate("g", config, 0);
  engine.serve("q");
  return engine;
}

function fill(
  engine: TestEngine,
  count: number,
  key: string,
  spec: JobSpec = {},
  queue = "q",
): void {
  for (let i = 0; i < count; i++) {
    engine.add(queue, { fairnessKey: key, gates: ["g"], body: key, ...spec }, 0);
  }
}

function next(engine: TestEngine, now = 0): Lease | undefined {
  return engine.dispatch(now)[0];
}

/** The next jobs to pass the gate, each done before the next one goes. */
function passed(engine: TestEngine, count: number, now = 0): string[] {
  const bodies: string[] = [];
  while (bodies.length < count) {
    const leases = engine.dispatch(now);
    if (leases.length === 0) break;
    for (const { id, lease, body } of leases) {
      engine.ack(id, lease, now);
      bodies.push(String(body));
    }
  }
  return bodies;
}

test("lanes that wait for a gate share its permits by weight, on every prefix", () => {
  const engine = open();
  const weights: Record<string, number> = { a: 1, b: 2, c: 3 };
  for (const [key, weight] of Object.entries(weights)) fill(engine, 60, key, { weight });
  const holder = next(engine)!;
  assert.equal(next(engine), undefined);
  engine.ack(holder.id, holder.lease, 0);
  const order = passed(engine, 96);
  for (let n = 1; n <= order.length; n++) {
    const shares = Object.entries(weights).map(
      ([key, weight]) => countOf(order.slice(0, n), key) / weight,
    );
    assert.ok(Math.max(...shares) - Math.min(...shares) <= 1.5, `after ${n}: ${shares}`);
  }
  assert.deepEqual(
    Object.keys(weights).map((key) => countOf(order, key)),
    [16, 32, 48],
  );
});

test("an arriving lane joins the round at its tail", () => {
  const engine = open();
  for (const key of ["a", "b", "c"]) fill(engine, 9, key);
  assert.deepEqual(passed(engine, 4), ["a", "b", "c", "a"]);
  fill(engine, 9, "n");
  const order = passed(engine, 8);
  assert.ok(order.indexOf("n") >= 2, String(order));
  assert.equal(countOf(order, "n"), 2);
});

test("a more urgent job that arrives gets the permit that was offered to another", () => {
  const engine = open();
  fill(engine, 3, "late", { priority: 2 });
  const holder = next(engine)!;
  assert.equal(next(engine), undefined);
  engine.ack(holder.id, holder.lease, 0);
  fill(engine, 1, "urgent", { priority: 0 });
  assert.deepEqual(passed(engine, 3), ["urgent", "late", "late"]);
});

test("the first in line that lacks tokens keeps the others waiting", () => {
  const engine = open({ rate: 1, burst: 5 });
  fill(engine, 1, "x", { cost: 5 });
  assert.deepEqual(passed(engine, 9), ["x"]);
  fill(engine, 1, "dear", { cost: 4, priority: 0 });
  fill(engine, 3, "cheap", { cost: 1 });
  engine.dispatch(0);
  assert.equal(engine.nextWake(0), 4000);
  assert.deepEqual(passed(engine, 9, 3999), []);
  assert.deepEqual(passed(engine, 9, 4000), ["dear"]);
  assert.deepEqual(passed(engine, 9, 5000), ["cheap"]);
});

test("the head of the line may change: cancelled, replaced by a cheaper one, or gone", () => {
  const engine = open({ rate: 1, burst: 5 });
  fill(engine, 1, "x", { cost: 5 });
  passed(engine, 1);
  fill(engine, 1, "a", { cost: 5 });
  fill(engine, 1, "a", { cost: 1 });
  fill(engine, 1, "b", { cost: 2 });
  engine.dispatch(0);
  assert.equal(engine.nextWake(0), 5000);
  engine.cancel(2, 0);
  assert.equal(engine.nextWake(0), 1000, "the next of its lane is cheaper");
  engine.cancel(3, 0);
  assert.equal(engine.nextWake(0), 2000, "and then the next lane");
  engine.cancel(4, 0);
  assert.equal(engine.queries.gateStats("g", 0).waitingLanes, 0);
  assert.equal(engine.nextWake(0) > 5000, true);
});

test("a job that was offered the permit and is cancelled passes the offer on", () => {
  const engine = open();
  for (const key of ["a", "b"]) fill(engine, 2, key);
  const holder = next(engine)!;
  next(engine);
  engine.ack(holder.id, holder.lease, 0);
  engine.cancel(3, 0);
  engine.cancel(4, 0);
  assert.deepEqual(passed(engine, 9), ["a"]);
});

test("a gate that shuts under ready lanes is noticed when they are served", () => {
  const engine = open({ concurrency: 1000 });
  for (const key of ["a", "b", "c"]) fill(engine, 1, key);
  engine.setGate("g", { rate: 0 }, 0);
  assert.equal(engine.queries.gateStats("g", 0).waitingLanes, 0);
  assert.deepEqual(passed(engine, 9), []);
  assert.equal(engine.queries.gateStats("g", 0).waitingLanes, 3);
  engine.setGate("g", { rate: 1000 }, 0);
  assert.equal(passed(engine, 9).length, 3);
});

test("a gate with room for its whole line lets a long line go, step by step", () => {
  const engine = open({ rate: 0 });
  for (let i = 0; i < 1000; i++) fill(engine, 1, `k${i}`);
  passed(engine, 1);
  assert.equal(engine.queries.gateStats("g", 0).waitingLanes, 1000);
  engine.setGate("g", { concurrency: 5000 }, 0);
  const leases = engine.dispatch(0, 5000);
  for (let calls = 0; engine.nextWake(0) === 0; calls++) {
    assert.ok(calls < 20);
    leases.push(...engine.dispatch(0, 5000));
  }
  assert.equal(engine.queries.gateStats("g", 0).waitingLanes, 0);
  assert.equal(leases.length, 1000);
});

test("an open gate that shuts lanes in again and deletes its limits wakes them all", () => {
  const engine = open({ rate: 0 });
  for (let i = 0; i < 200; i++) fill(engine, 2, `k${i}`);
  assert.deepEqual(engine.dispatch(0), []);
  engine.deleteGate("g", 0);
  assert.equal(engine.dispatch(0).length, 400);
});

test("queues that share a gate take turns by their weight", () => {
  const engine = open();
  engine.serve("r", { weight: 3 });
  fill(engine, 40, "q");
  fill(engine, 40, "r", {}, "r");
  const order = passed(engine, 40);
  assert.ok(Math.abs(countOf(order, "r") - 30) <= 1, String(countOf(order, "r")));
});

test("between queues the tier comes first", () => {
  const engine = open({ rate: 0 });
  engine.serve("r");
  fill(engine, 3, "q", { priority: 1 });
  fill(engine, 3, "r", { priority: 0 }, "r");
  engine.dispatch(0);
  engine.setGate("g", { concurrency: 1 }, 0);
  assert.deepEqual(passed(engine, 9), ["r", "r", "r", "q", "q", "q"]);
});

test("a queue without a free worker holds no permit, and takes its place again with one", () => {
  const engine = open();
  engine.serve("r");
  for (let i = 0; i < 3; i++) {
    fill(engine, 1, "q", { priority: 0 });
    fill(engine, 1, "r", { priority: 1 }, "r");
  }
  const holder = next(engine)!;
  next(engine);
  engine.want("q", "w", 0, 0);
  engine.ack(holder.id, holder.lease, 0);
  assert.deepEqual(passed(engine, 2), ["r", "r"]);
  engine.want("q", "w", 9, 0);
  assert.deepEqual(passed(engine, 9), ["q", "q", "r"]);
});

test("an offer moves when its queue loses its last worker", () => {
  const engine = open();
  engine.serve("r");
  fill(engine, 2, "q", { priority: 0 });
  fill(engine, 1, "r", {}, "r");
  const holder = next(engine)!;
  next(engine);
  engine.ack(holder.id, holder.lease, 0);
  engine.pause("q", 0);
  assert.deepEqual(passed(engine, 9), ["r"]);
  engine.resume("q", 0);
  assert.deepEqual(passed(engine, 9), ["q"]);
});

test("a deleted queue leaves the line to the others", () => {
  const engine = open();
  engine.serve("r");
  fill(engine, 3, "q", { priority: 0 });
  fill(engine, 2, "r", {}, "r");
  next(engine);
  assert.equal(next(engine), undefined);
  engine.deleteQueue("q", 0);
  for (let i = 0; i < 5; i++) engine.tick(0);
  assert.deepEqual(passed(engine, 9), ["r", "r"]);
});

test("more gates than one call looks at are looked at by the next", () => {
  const engine = new TestEngine();
  engine.serve("q");
  engine.setGate("p:*", { rate: 0 }, 0);
  for (let i = 0; i < 1500; i++) fill(engine, 1, `k${i}`, { gates: [`p:${i}`] });
  engine.dispatch(0);
  engine.setGate("p:*", { concurrency: 1 }, 0);
  const bodies: unknown[] = [];
  for (let calls = 0; engine.nextWake(0) === 0; calls++) {
    assert.ok(calls < 50);
    const before = engine.queries.steps;
    bodies.push(...engine.dispatch(0));
    assert.ok(engine.queries.steps - before < 10_000);
  }
  assert.equal(bodies.length, 1500);
});

test("a line behind windows, an interval or a rate passes as fast as they allow", () => {
  const limits: [GateConfig, number[]][] = [
    [{ windows: [{ limit: 2, perMs: 100 }] }, [0, 0, 100, 100, 200]],
    [{ interval: { ms: 30, from: "start" } }, [0, 30, 60, 90, 120]],
    [{ rate: 10, burst: 2 }, [0, 0, 100, 200, 300]],
    [{ rate: 1000, burst: 5, concurrency: 9 }, [0, 0, 0, 0, 0]],
  ];
  for (const [config, expected] of limits) {
    const engine = open({ rate: 0 });
    for (const key of ["a", "b", "c", "d", "e"]) fill(engine, 1, key);
    engine.dispatch(0);
    engine.setGate("g", config, 0);
    const times: number[] = [];
    for (let now = 0; now <= 300; now = Math.max(now + 1, Math.min(engine.nextWake(now), 301))) {
      for (const _ of passed(engine, 9, now)) times.push(now);
    }
    assert.deepEqual(times, expected, JSON.stringify(config));
  }
});

test("an offer moves to another queue even if it was made before that queue came", () => {
  const engine = open();
  for (const key of ["a", "b"]) fill(engine, 1, key, { priority: 0 });
  const holder = next(engine)!;
  next(engine);
  engine.ack(holder.id, holder.lease, 0);
  engine.serve("r");
  fill(engine, 1, "r", {}, "r");
  engine.want("q", "w", 0, 0);
  assert.deepEqual(passed(engine, 9), ["r"]);
  engine.want("q", "w", 1, 0);
  assert.deepEqual(passed(engine, 9), ["b"]);
});

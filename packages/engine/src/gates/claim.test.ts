import assert from "node:assert/strict";
import { test } from "node:test";
import { each, openEngine, TestEngine } from "../testing/test-engine.ts";
import type { JobSpec, Lease } from "../types.ts";
import type { GateConfig } from "./gate-state.ts";

/** A queue with free workers, and gates of these limits. */
function open(gates: Record<string, GateConfig>): TestEngine {
  const engine = new TestEngine();
  for (const [key, config] of Object.entries(gates)) engine.setGate(key, config, 0);
  engine.serve("q");
  return engine;
}

function add(engine: TestEngine, gates: string, spec: JobSpec = {}, queue = "q", now = 0): number {
  const body = gates;
  return engine.add(queue, { gates: [...gates], fairnessKey: gates, body, ...spec }, now).id;
}

function done(engine: TestEngine, leases: Lease[], now = 0): void {
  for (const { id, lease } of leases) engine.ack(id, lease, now);
}

const ONE = { concurrency: 1 };

test("a job with several gates takes all permits or none", () => {
  const engine = open({ a: { rate: 1, burst: 1 }, b: ONE });
  const holder = add(engine, "b");
  assert.deepEqual(each(engine.takeAll(), "id"), [holder]);
  add(engine, "ab");
  assert.deepEqual(engine.takeAll(), []);
  assert.equal(engine.queries.gateStats("a", 0).tokens, 1, "it holds nothing while it waits");
  engine.ack(holder, 1, 10);
  assert.equal(engine.takeAll(10).length, 1);
  assert.deepEqual(
    [engine.queries.gateStats("a", 10).tokens, engine.queries.gateStats("b", 10).inFlight],
    [0, 1],
  );
});

test("a job whose gates are all open goes out at once, named in any order and twice", () => {
  const engine = open({ a: ONE, b: ONE });
  engine.add("q", { gates: ["b", "a", "b", "open"] }, 0);
  assert.equal(engine.takeAll().length, 1);
  assert.deepEqual(
    [engine.queries.gateStats("a", 0).inFlight, engine.queries.gateStats("b", 0).inFlight],
    [1, 1],
  );
});

test("beside jobs with one gate the wait of a job with several is bounded", () => {
  const engine = open({ a: ONE, b: ONE });
  for (const lane of ["1", "2", "3"]) {
    for (let i = 0; i < 30; i++) {
      for (const gates of ["a", "b"]) add(engine, gates, { fairnessKey: gates + lane });
    }
  }
  let running = engine.takeAll();
  const both = add(engine, "ab");
  for (let rounds = 0; ; rounds++) {
    assert.ok(rounds < 30, "it starves");
    // One of the two ends at a time: both gates are never free by chance.
    const [first, ...rest] = running;
    done(engine, [first!], rounds);
    running = [...rest, ...engine.takeAll(rounds)];
    if (running.some(({ id }) => id === both)) break;
  }
  assert.equal(engine.queries.gateStats("a", 30).inFlight, 1);
});

test("a job takes its turn at each gate that keeps it, then its permits are kept for it", () => {
  const engine = open({ a: ONE, b: ONE });
  const ids = (now: number): number[] => engine.takeAll(now).map(({ id }) => id);
  const holders: Record<string, number> = { a: add(engine, "a"), b: add(engine, "b") };
  engine.takeAll();
  const both = add(engine, "ab");
  engine.takeAll();
  const [first, second] =
    engine.queries.gateStats("a", 0).waitingLanes === 1 ? ["a", "b"] : ["b", "a"];
  const later = add(engine, first!, { fairnessKey: "later" });
  engine.ack(holders[first!]!, 1, 1);
  assert.deepEqual(ids(1), [later], "its turn at the first passes on, it holds nothing");
  const latest = add(engine, second!, { fairnessKey: "latest" }, "q", 1);
  engine.ack(holders[second!]!, 1, 2);
  assert.deepEqual(ids(2), [], "it has had its turns: the place at the second is kept for it");
  engine.ack(later, 1, 3);
  assert.deepEqual(ids(3), [both]);
  engine.ack(both, 1, 4);
  assert.deepEqual(ids(4), [latest]);
});

test("while a job waits for one gate, the other's permits are used by others", () => {
  const engine = open({ a: { rate: 10, burst: 1 }, b: { rate: 1, burst: 1 } });
  add(engine, "a");
  add(engine, "b");
  engine.takeAll();
  const both = add(engine, "ab");
  engine.takeAll();
  for (let i = 0; i < 20; i++) add(engine, "a", { fairnessKey: "a" });
  const order: [number, number][] = [];
  for (let now = 0; now <= 1100; now = Math.max(engine.nextWake(now), now + 1)) {
    for (const { id } of engine.takeAll(now)) order.push([now, id]);
  }
  const at = order.find(([, id]) => id === both)?.[0];
  assert.ok(at !== undefined && at >= 1000 && at <= 1100, `it goes at ${at}`);
  const meanwhile = order.filter(([now, id]) => id !== both && now < 1000).length;
  assert.ok(meanwhile >= 8, `${meanwhile} passed beside it`);
});

test("a claim is dropped when a gate is shut for long, and is made again later", () => {
  const engine = open({ a: ONE, b: ONE });
  const a = add(engine, "a");
  const b = add(engine, "b");
  engine.takeAll();
  const both = add(engine, "ab");
  engine.takeAll();
  engine.cooldown("b", 60_000, "down", 0);
  const other = add(engine, "a", { fairnessKey: "other" });
  engine.ack(a, 1, 1);
  const passed = engine.takeAll(1);
  assert.deepEqual(each(passed, "id"), [other], "no job waits for a provider that is down");
  engine.ack(b, 1, 2);
  done(engine, passed, 2);
  assert.deepEqual(each(engine.takeAll(60_000), "id"), [both]);
});

test("a claim is dropped when a gate is shut for good; its job goes out when it opens", () => {
  const engine = open({ a: ONE, b: ONE });
  const a = add(engine, "a");
  add(engine, "b");
  engine.takeAll();
  const both = add(engine, "ab");
  engine.takeAll();
  engine.setGate("b", { rate: 0 }, 0);
  const other = add(engine, "a", { fairnessKey: "other" });
  engine.ack(a, 1, 1);
  assert.deepEqual(each(engine.takeAll(1), "id"), [other]);
  engine.ack(other, 1, 2);
  engine.deleteGate("b", 2);
  assert.deepEqual(each(engine.takeAll(2), "id"), [both]);
});

test("a short cooldown does not drop a claim", () => {
  const engine = open({ a: ONE, b: ONE });
  const a = add(engine, "a");
  engine.takeAll();
  engine.cooldown("b", 500, "", 0);
  const both = add(engine, "ab");
  engine.takeAll();
  engine.ack(a, 1, 1);
  assert.deepEqual(engine.takeAll(1), []);
  assert.deepEqual(each(engine.takeAll(500), "id"), [both]);
});

test("claims are ordered by tier, then by age", () => {
  const engine = open({ a: ONE, b: ONE });
  const holder = add(engine, "ab", { fairnessKey: "x" });
  engine.takeAll();
  const ids = [3, 1, 1, 0].map((priority, i) => {
    const id = add(engine, "ab", { priority, fairnessKey: `k${i}` });
    engine.takeAll();
    return id;
  });
  const order: number[] = [];
  let running = [holder];
  while (running.length > 0) {
    for (const id of running) engine.ack(id, 1, 1);
    running = engine.takeAll(1).map(({ id }) => id);
    order.push(...running);
  }
  assert.deepEqual(order, [ids[3], ids[1], ids[2], ids[0]]);
});

test("a job that waits at its gates can be cancelled at every stage", () => {
  for (const stage of ["waits its turn", "claims", "is offered"]) {
    const engine = open({ a: ONE, b: ONE });
    const a = add(engine, "a");
    const b = add(engine, "b");
    engine.takeAll();
    if (stage === "waits its turn") add(engine, "a", { fairnessKey: "first" });
    engine.takeAll();
    const both = add(engine, "ab");
    engine.takeAll();
    if (stage === "is offered") {
      engine.want("q", "w", 0, 0);
      engine.ack(a, 1, 1);
      engine.ack(b, 1, 1);
      engine.tick(1);
    }
    assert.equal(engine.cancel(both, 1), true, stage);
    engine.want("q", "w", 99, 2);
    for (const { id, lease } of [a, b].map((id) => ({ id, lease: 1 }))) {
      if (engine.queries.job(id)?.state === "running") engine.ack(id, lease, 2);
    }
    done(engine, engine.takeAll(2), 2);
    add(engine, "ab", {}, "q", 3);
    assert.equal(engine.takeAll(3).length, 1, `${stage}: nothing is held by no one`);
  }
});

test("a claim one of whose gates is deleted wakes when the others are open", () => {
  const engine = open({ a: { rate: 1, burst: 2 }, b: { rate: 0.1, burst: 2 } });
  const ids = (now: number) => engine.takeAll(now).map((lease) => lease.id);
  add(engine, "b", { cost: 2, priority: 0 });
  assert.deepEqual(ids(0), [1]);
  add(engine, "ab", { cost: 2, priority: 1 });
  engine.tick(20_000);
  // It has had its turn at b, and others take from both.
  add(engine, "b", { cost: 2, priority: 0 }, "q", 20_000);
  add(engine, "a", { cost: 1, priority: 0 }, "q", 20_000);
  assert.deepEqual(ids(20_000), [3, 4]);
  engine.tick(21_000);
  // It has had its turn at a as well, and claims.
  add(engine, "a", { cost: 1, priority: 0 }, "q", 21_000);
  assert.deepEqual(ids(21_000), [5]);
  assert.equal(engine.nextWake(21_000), 40_000);
  engine.deleteGate("b", 21_000);
  assert.equal(engine.nextWake(21_000), 22_000);
  assert.deepEqual(ids(22_000), [2]);
});
test("a job with two gates that were open waits when another took the permit first", () => {
  const engine = openEngine();
  engine.setGate("a", { concurrency: 1 }, 0);
  engine.setGate("b", { concurrency: 5 }, 0);
  engine.add("q", { gates: ["a"], fairnessKey: "x" }, 0);
  engine.add("q", { gates: ["a", "b"], fairnessKey: "y" }, 0);
  engine.want("q", "w", 5, 0);
  const [first, ...rest] = engine.dispatch(0);
  assert.deepEqual([first?.id, rest], [1, []]);
  assert.equal(
    engine.queries.gateStats("b", 0).inFlight,
    0,
    "it holds no permit of the other gate",
  );
  engine.ack(1, first!.lease, 5);
  assert.deepEqual(each(engine.dispatch(5), "id"), [2]);
});

for (const gate of ["a", "b"]) {
  test(`a cooldown of ${gate} keeps a job with two gates whose permits were both there`, () => {
    const engine = openEngine();
    engine.setGate("a", { rate: 1, burst: 1 }, 0);
    engine.setGate("b", { concurrency: 1 }, 0);
    engine.add("q", { gates: ["a", "b"] }, 0);
    engine.add("q", { gates: ["a", "b"] }, 0);
    engine.want("q", "w", 5, 0);
    const [first] = engine.dispatch(0);
    engine.ack(1, first!.lease, 5);
    engine.tick(1000);
    engine.cooldown(gate, 500, "down", 1000);
    assert.deepEqual(engine.dispatch(1000), []);
    assert.deepEqual(each(engine.dispatch(1500), "id"), [2]);
  });

  test(`a cooldown of ${gate} keeps a job with two gates that were open`, () => {
    const engine = openEngine();
    engine.setGate("a", { rate: 1, burst: 1 }, 0);
    engine.setGate("b", { concurrency: 1 }, 0);
    engine.add("q", { gates: ["a", "b"] }, 0);
    engine.cooldown(gate, 500, "down", 0);
    engine.want("q", "w", 5, 0);
    assert.deepEqual(engine.dispatch(0), []);
    assert.deepEqual(each(engine.dispatch(500), "id"), [1]);
  });
}

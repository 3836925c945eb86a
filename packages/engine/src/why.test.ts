import assert from "node:assert/strict";
import { test } from "node:test";
import { Engine } from "./engine.ts";
import type { QueueOptions } from "./types.ts";
import type { WhyGated } from "./why-types.ts";

// The words and every situation are in packages/sluice/src/why.test.ts.

function open(options: QueueOptions = {}): Engine {
  const engine = new Engine();
  engine.setQueue("q", options, 0);
  return engine;
}

function gated(engine: Engine, id: number, now = 0): WhyGated {
  const why = engine.why(id, now);
  assert.ok(why.state === "waiting" && why.reason === "gated", JSON.stringify(why));
  return why;
}

test("a job that could go out is ready, behind others, or lacks a worker", () => {
  const engine = open();
  engine.add("q", {}, 0);
  engine.add("q", {}, 0);
  const waiting = { state: "waiting", queue: "q", place: 0, urgent: 0, workers: 0, running: 0 };
  assert.deepEqual(engine.why(1, 0), { ...waiting, reason: "no-worker" });
  engine.want("q", "w", 1, 0);
  assert.deepEqual(engine.why(1, 0), { ...waiting, reason: "ready", workers: 1 });
  assert.deepEqual(engine.why(2, 0), { ...waiting, reason: "behind", workers: 1, place: 1 });
});

test("jobs before one are counted up to a thousand", () => {
  const engine = open();
  for (let i = 0; i < 1500; i++) engine.add("q", {}, 0);
  const placeOf = (id: number): unknown => {
    const why = engine.why(id, 0);
    return why.state === "waiting" && why.place;
  };
  assert.deepEqual([placeOf(1), placeOf(500), placeOf(1001), placeOf(1500)], [0, 499, 1000, 1000]);
});

test("of several gates the one that opens last is named, with the part and the time", () => {
  const engine = open();
  engine.setGate("soon", { rate: 1, burst: 1 }, 0);
  engine.add("q", { gates: ["soon", "later", "open"] }, 0);
  engine.want("q", "w", 1, 0);
  engine.cooldown("later", 500, "busy", 0);
  const { gate, part, until, cooldownReason } = gated(engine, 1);
  assert.deepEqual([gate, part, until, cooldownReason], ["later", "cooldown", 500, "busy"]);
  engine.clearCooldown("later", 0);
  assert.equal(engine.dispatch(0).length, 1);
  engine.add("q", { gates: ["soon"] }, 0);
  const second = gated(engine, 2);
  assert.deepEqual([second.part, second.until], ["rate", 1000]);
});

test("a rate of 0 is named before a gate that is full, in any order of the gates", () => {
  for (const gates of [
    ["full", "shut:1"],
    ["shut:1", "full"],
  ]) {
    const engine = open();
    engine.setGate("full", { concurrency: 1 }, 0);
    engine.setGate("shut:*", { rate: 0 }, 0);
    engine.add("q", { gates: ["full"] }, 0);
    engine.lease("q", 1, 0);
    engine.add("q", { gates }, 0);
    const { gate, part, until, shutBy } = gated(engine, 2);
    assert.deepEqual([gate, part, until, shutBy], ["shut:1", "rate", undefined, "shut:*"]);
  }
});

test("a full gate names a job that holds it, also when its limit was lowered", () => {
  const engine = open();
  engine.setGate("g", { concurrency: 3 }, 0);
  for (let i = 0; i < 4; i++) engine.add("q", { gates: ["g"] }, 0);
  engine.want("q", "w", 9, 0);
  const leases = engine.dispatch(0);
  assert.deepEqual(gated(engine, 4).holders, { count: 3, id: 3, worker: "w" });
  engine.setGate("g", { concurrency: 1 }, 0);
  engine.ack(3, leases[2]!.lease, 0);
  engine.ack(2, leases[1]!.lease, 0);
  assert.deepEqual(gated(engine, 4).holders, { count: 1, id: 1, worker: "w" });
});

test("looking at a line changes nothing: with and without, jobs go out in the same order", () => {
  const run = (looks: boolean): number[] => {
    const engine = open();
    engine.setGate("g", { rate: 10, burst: 1 }, 0);
    engine.want("q", "w", 1000, 0);
    const order: number[] = [];
    let id = 0;
    for (let now = 0; now < 5000; now += 50) {
      const lane = `k${(now * 7) % 11}`;
      const weight = 1 + (now % 3);
      const cost = 1;
      engine.add("q", { gates: ["g"], fairnessKey: [lane, String(id % 2)], weight, cost }, now);
      id++;
      if (looks) for (let job = 1; job <= id; job += 3) engine.why(job, now);
      for (const lease of engine.dispatch(now)) {
        order.push(lease.id);
        engine.ack(lease.id, lease.lease, now);
      }
    }
    return order;
  };
  assert.deepEqual(run(true), run(false));
});

test("the answer costs the same beside a hundred thousand lanes and jobs", () => {
  const engine = open();
  engine.setGate("g", { rate: 1, burst: 1 }, 0);
  const jobs = Array.from({ length: 1000 }, () => ({}));
  for (let i = 0; i < 100; i++) {
    engine.addAll(
      "q",
      jobs.map((_, j) => ({ gates: ["g"], fairnessKey: `k${i * 1000 + j}` })),
      0,
    );
  }
  engine.want("q", "w", 9, 0);
  while (engine.nextWake(0) <= 0) engine.dispatch(0);
  const before = engine.steps;
  for (let id = 1002; id < 100_000; id += 1000) {
    const { first, lanes, until } = gated(engine, id);
    assert.ok(lanes > 90_000 && until === 1000 && first !== undefined);
  }
  assert.equal(engine.steps, before, "no lane is stepped over");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine, type QueueChange, type TestEngine } from "../testing/test-engine.ts";
import type { WhyGated } from "./why-types.ts";

// The words and every situation are in packages/sluice/src/why.test.ts.

function gated(engine: TestEngine, id: number, now = 0): WhyGated {
  const why = engine.queries.why(id, now);
  assert.ok(why.state === "waiting" && why.reason === "gated", JSON.stringify(why));
  return why;
}

test("a job that could go out is ready, behind others, or lacks a worker", () => {
  const engine = openEngine();
  engine.add("q", {}, 0);
  engine.add("q", {}, 0);
  const waiting = { state: "waiting", queue: "q", place: 0, urgent: 0, workers: 0, running: 0 };
  assert.deepEqual(engine.queries.why(1, 0), { ...waiting, reason: "no-worker" });
  engine.want("q", "w", 1, 0);
  assert.deepEqual(engine.queries.why(1, 0), { ...waiting, reason: "ready", workers: 1 });
  assert.deepEqual(engine.queries.why(2, 0), {
    ...waiting,
    reason: "behind",
    workers: 1,
    place: 1,
  });
});

test("jobs before one are counted up to a thousand", () => {
  const engine = openEngine();
  for (let i = 0; i < 1500; i++) engine.add("q", {}, 0);
  const placeOf = (id: number): unknown => {
    const why = engine.queries.why(id, 0);
    return why.state === "waiting" && why.place;
  };
  assert.deepEqual([placeOf(1), placeOf(500), placeOf(1001), placeOf(1500)], [0, 499, 1000, 1000]);
});

test("of several gates the one that opens last is named, with the part and the time", () => {
  const engine = openEngine();
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
    const engine = openEngine();
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
  const engine = openEngine();
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
    const engine = openEngine();
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
      if (looks) for (let job = 1; job <= id; job += 3) engine.queries.why(job, now);
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
  const engine = openEngine();
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
  const before = engine.queries.steps;
  for (let id = 1002; id < 100_000; id += 1000) {
    const { first, lanes, until } = gated(engine, id);
    assert.ok(lanes > 90_000 && until === 1000 && first !== undefined);
  }
  assert.equal(engine.queries.steps, before, "no lane is stepped over");
});

test("a delayed job says whether a producer, a failure, a lease or a worker put it off", () => {
  const engine = openEngine({ leaseMs: 1000, retry: { minMs: 8000, maxMs: 8000, jitter: 0 } });
  engine.add("q", { delayMs: 5 }, 0);
  const delayed = { state: "delayed", queue: "q" };
  assert.deepEqual(engine.queries.why(1, 0), { ...delayed, cause: "delay", until: 5 });
  engine.cancel(1, 0);

  for (let id = 2; id <= 4; id++) engine.add("q", { attempts: 3 }, 0);
  const leases = engine.lease("q", 3, 0);
  const leaseOf = (id: number): number => leases.find((lease) => lease.id === id)!.lease;
  engine.nack(2, leaseOf(2), 0, { error: "boom" });
  const tried = { ...delayed, attempt: 1, attempts: 3 };
  assert.deepEqual(engine.queries.why(2, 0), {
    ...tried,
    cause: "failed",
    until: 8000,
    error: "boom",
  });
  engine.nack(3, leaseOf(3), 0, { cooldown: { gate: "elsewhere", ms: 30_000 }, error: "429" });
  assert.deepEqual(engine.queries.why(3, 0), {
    ...tried,
    cause: "retry-after",
    attempt: 0,
    until: 30_000,
    error: "429",
  });
  engine.dispatch(1000);
  assert.deepEqual(engine.queries.why(4, 1000), { ...tried, cause: "expired", until: 9000 });
});

test("a job that is due on a full queue says so, with the number that waits", () => {
  const engine = openEngine({ capacity: { jobs: 1 } });
  engine.add("q", { delayMs: 5 }, 0);
  engine.add("q", {}, 0);
  engine.dispatch(5);
  const why = engine.queries.why(1, 5);
  assert.ok(why.state === "delayed" && why.cause === "queue-full", JSON.stringify(why));
  assert.ok(why.until > 5);
  assert.equal(why.waiting, 1);
});

test("an ended job keeps its state, its error and the deadline that it missed", () => {
  const engine = openEngine({ dlq: false });
  engine.add("q", { attempts: 1 }, 0);
  engine.add("q", { ttlMs: 10 }, 0);
  const [first] = engine.lease("q", 1, 0);
  engine.nack(1, first!.lease, 0, { error: "boom" });
  engine.dispatch(10);
  const failed = { state: "failed", at: 0, error: "boom" };
  assert.deepEqual(engine.queries.why(1, 10), failed);
  const why = engine.queries.why(2, 10);
  assert.ok(why.state === "expired", JSON.stringify(why));
  assert.equal(why.deadline, 10);
});

test("a dead letter names its queue, its error, and whether the queue is gone", () => {
  const engine = openEngine({ retry: { attempts: 1 } });
  engine.setQueue("q.dlq", { retry: { minMs: 8000, jitter: 0, attempts: 2 } }, 0);
  engine.add("q", {}, 0);
  engine.nack(1, engine.lease("q", 1, 0)[0]!.lease, 0, { error: "boom" });
  const letter = engine.queries.why(1, 0);
  assert.ok(letter.state === "dead", JSON.stringify(letter));
  assert.deepEqual([letter.dead.origin, letter.dead.error], ["q", "boom"]);
  assert.equal(letter.dead.isOriginGone, undefined);
  engine.nack(1, engine.lease("q.dlq", 1, 0)[0]!.lease, 0, { error: "again" });
  engine.deleteQueue("q", 0);
  const later = engine.queries.why(1, 0);
  assert.ok(later.state === "delayed" && later.cause === "failed", JSON.stringify(later));
  assert.deepEqual([later.dead?.origin, later.dead?.isOriginGone], ["q", true]);
});

test("a paused queue and a queue that runs as many as it may are named as such", () => {
  const engine = openEngine({ capacity: { running: 1 } });
  for (let i = 0; i < 2; i++) engine.add("q", {}, 0);
  engine.want("q", "w", 5, 0);
  assert.equal(engine.dispatch(0).length, 1);
  const full = engine.queries.why(2, 0);
  assert.ok(full.state === "waiting" && full.reason === "capacity", JSON.stringify(full));
  engine.setQueue("q", { paused: true }, 0);
  const paused = engine.queries.why(2, 0);
  assert.ok(paused.state === "waiting" && paused.reason === "paused", JSON.stringify(paused));
});

test("more urgent jobs are counted where tiers are strict, and not where they take turns", () => {
  const urgentOf = (tierOrder: QueueChange["tierOrder"] & {}): unknown => {
    const engine = openEngine({ tierOrder });
    for (const priority of [0, 1, 3]) engine.add("q", { priority }, 0);
    const why = engine.queries.why(3, 0);
    return why.state === "waiting" && why.urgent;
  };
  assert.deepEqual([urgentOf("strict"), urgentOf([4, 3, 2, 1])], [2, 0]);
});

test("a permit that is kept for another job names it and the gate that it lacks", () => {
  const engine = openEngine();
  for (const gate of ["a", "b"]) engine.setGate(gate, { concurrency: 1 }, 0);
  engine.want("q", "w", 9, 0);
  const add = (key: string, ...gates: string[]): number =>
    engine.add("q", { gates, fairnessKey: key }, 0).id;
  const holders = { a: add("holder of a", "a"), b: add("holder of b", "b") };
  assert.equal(engine.dispatch(0).length, 2);
  const both = add("both", "a", "b");
  engine.dispatch(0);
  // It takes its turn at one of the gates, holding nothing, and then at the other.
  const isAtA = engine.queries.gateStats("a", 0).waitingLanes === 1;
  const [held, free] = isAtA ? (["a", "b"] as const) : (["b", "a"] as const);
  add("next", held);
  engine.ack(holders[held], 1, 0);
  assert.equal(engine.dispatch(0).length, 1);
  const later = add("later", free);
  engine.ack(holders[free], 1, 0);
  assert.deepEqual(engine.dispatch(0), []);
  const { gate, part, keptFor, first } = gated(engine, later);
  assert.deepEqual([gate, part, first], [free, "line", undefined]);
  assert.deepEqual(keptFor, { id: both, gate: held, part: "concurrency" });
});

test("an older job of a strand with other gates is first in line before the lane's own", () => {
  const engine = openEngine();
  engine.setGate("g", { concurrency: 1 }, 0);
  engine.setGate("h", { concurrency: 1 }, 0);
  engine.want("q", "w", 9, 0);
  engine.add("q", { gates: ["g"], fairnessKey: "holder" }, 0);
  assert.equal(engine.dispatch(0).length, 1);
  engine.add("q", { gates: ["g", "h"], fairnessKey: "a" }, 0);
  engine.add("q", { gates: ["g"], fairnessKey: "a" }, 0);
  engine.add("q", { gates: ["g"], fairnessKey: "b" }, 0);
  engine.dispatch(0);
  assert.equal(gated(engine, 4).first, undefined, "it only takes its turn here");
  engine.cancel(2, 0);
  engine.dispatch(0);
  assert.equal(gated(engine, 4).first?.id, 3);
});

test("a job that is delayed after it was given back has not failed", () => {
  const engine = openEngine();
  const dedupe = { key: "k", mode: "debounce" as const };
  const { id } = engine.add("q", { dedupe, delayMs: 10 }, 0);
  const [lease] = engine.lease("q", 1, 10);
  engine.giveBack(id, lease!.lease, 11);
  engine.add("q", { dedupe, delayMs: 10 }, 12);
  const why = engine.queries.why(id, 12);
  assert.deepEqual(why, { state: "delayed", queue: "q", cause: "delay", until: 22 });
});

test("distinguishes a job that its provider asked to retry later from a failed one", () => {
  const engine = openEngine();
  const { id } = engine.add("q", {}, 0);
  const [lease] = engine.lease("q", 1, 0);
  const cooldown = { gate: "model", ms: 50 };
  engine.nack(id, lease!.lease, 0, { cooldown, error: "429" });
  const why = engine.queries.why(id, 0);
  assert.ok(why.state === "delayed" && why.cause === "retry-after", JSON.stringify(why));
  assert.deepEqual([why.until, why.error], [50, "429"]);
});

test("a gate whose last holder has ended names another that still runs", () => {
  const engine = openEngine();
  engine.setGate("g", { concurrency: 2 }, 0);
  engine.want("q", "w", 9, 0);
  for (let i = 0; i < 3; i++) engine.add("q", { gates: ["g"] }, 0);
  const [first, second] = engine.dispatch(0);
  engine.setGate("g", { concurrency: 1 }, 0);
  engine.ack(second!.id, second!.lease, 0);
  engine.dispatch(0);
  assert.deepEqual(gated(engine, 3).holders, { count: 1, id: first!.id, worker: "w" });
});

test("a gate that is shut by its own limits is named as what shuts it", () => {
  const engine = openEngine();
  engine.setGate("closed", { rate: 0 }, 0);
  const { id } = engine.add("q", { gates: ["closed"] }, 0);
  const { gate, shutBy, until } = gated(engine, id);
  assert.deepEqual([gate, shutBy, until], ["closed", "closed", undefined]);
});

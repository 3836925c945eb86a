import assert from "node:assert/strict";
import { test } from "node:test";
import { fill, openEngine, type TestEngine } from "../testing/test-engine.ts";
import type { JobSpec } from "../types.ts";

function ids(engine: TestEngine, count: number, now = 0): number[] {
  return engine.lease("q", count, now).map(({ id }) => id);
}

test("a strand is first in, first out", () => {
  const engine = openEngine();
  fill(engine, 5);
  engine.cancel(3, 0);
  engine.cancel(1, 0);
  engine.cancel(5, 0);
  assert.deepEqual(ids(engine, 9), [2, 4]);
});

test("a job given back goes to the front, several keep their order", () => {
  const engine = openEngine();
  fill(engine, 6);
  const leases = engine.lease("q", 4, 0);
  for (const { id, lease } of leases.toReversed()) engine.giveBack(id, lease, 0);
  assert.deepEqual(ids(engine, 9), [1, 2, 3, 4, 5, 6]);
});

test("a job given back behind older ones, or to an empty strand, finds its place", () => {
  const engine = openEngine();
  fill(engine, 3);
  const [a, b, c] = engine.lease("q", 3, 0);
  engine.giveBack(c!.id, c!.lease, 0);
  engine.giveBack(a!.id, a!.lease, 0);
  engine.giveBack(b!.id, b!.lease, 0);
  assert.deepEqual(ids(engine, 9), [1, 2, 3]);
  const engine2 = openEngine();
  fill(engine2, 2);
  const [first, second] = engine2.lease("q", 2, 0);
  engine2.giveBack(first!.id, first!.lease, 0);
  engine2.giveBack(second!.id, second!.lease, 0);
  assert.deepEqual(ids(engine2, 9), [1, 2]);
});

test("a retried or expired job keeps tier and lane and goes to the back of its strand", () => {
  const engine = openEngine({ leaseMs: 10, retry: { minMs: 0, maxMs: 0 } });
  fill(engine, 4, { priority: 1, fairnessKey: "k" });
  const [a, b] = engine.lease("q", 2, 0);
  engine.nack(a!.id, a!.lease, 0);
  engine.tick(10);
  const { tier, fairnessKey } = engine.queries.job(b!.id)!;
  assert.deepEqual([tier, fairnessKey], [1, "k"]);
  assert.deepEqual(ids(engine, 9, 10), [3, 4, 1, 2]);
});

test("of a lane's open strands the one with the oldest head goes first", () => {
  const engine = openEngine();
  const specs: JobSpec[] = [{ gates: ["a"] }, {}, { gates: ["b"] }, { gates: ["a"] }, {}];
  engine.addAll("q", specs, 0);
  assert.deepEqual(ids(engine, 9), [1, 2, 3, 4, 5]);
  fill(engine, 1, { gates: ["a"] });
  fill(engine, 1);
  const [lease] = engine.lease("q", 1, 0);
  fill(engine, 1, { gates: ["b"] });
  engine.giveBack(lease!.id, lease!.lease, 0);
  assert.deepEqual(ids(engine, 9), [6, 7, 8], "one given back keeps its age");
});

test("counts and bytes follow a job through all its states", () => {
  const engine = openEngine({ tiers: 1, retry: { minMs: 10, maxMs: 10, jitter: 0 } });
  const counts = (): number[] => {
    const { waiting, delayed, running, kept, bytes, lanes } = engine.queries.queueStats("q");
    return [waiting, delayed, running, kept, bytes, lanes];
  };
  fill(engine, 1, { delayMs: 5, sizeBytes: 8 });
  assert.deepEqual(counts(), [0, 1, 0, 0, 0, 0]);
  engine.tick(5);
  assert.deepEqual(counts(), [1, 0, 0, 0, 8, 1]);
  const [first] = engine.lease("q", 1, 5);
  assert.deepEqual(counts(), [0, 0, 1, 0, 0, 0]);
  engine.nack(1, first!.lease, 5);
  assert.deepEqual(counts(), [0, 1, 0, 0, 0, 0]);
  const [second] = engine.lease("q", 1, 15);
  engine.giveBack(1, second!.lease, 15);
  assert.deepEqual(counts(), [1, 0, 0, 0, 8, 1]);
  const [third] = engine.lease("q", 1, 15);
  engine.ack(1, third!.lease, 15);
  assert.deepEqual(counts(), [0, 0, 0, 1, 0, 0]);
});

test("a job given back is watched again by the gate it would not wait for", () => {
  const engine = openEngine();
  fill(engine, 1, { gates: ["g"], maxWaitMs: 100 });
  const [lease] = engine.lease("q", 1, 0);
  engine.cooldown("g", 5000, "", 0);
  assert.equal(engine.queries.job(1)?.state, "running", "a running job does not wait");
  engine.giveBack(1, lease!.lease, 0);
  assert.equal(engine.queries.job(1)?.waited?.gate, "g");
});

test("a gate that changes later ends the waiting jobs that would not wait so long", () => {
  const engine = openEngine();
  engine.setGate("g", { rate: 1, burst: 2, ladder: [5000] }, 0);
  fill(engine, 1, { gates: ["g"], maxWaitMs: 5000 });
  fill(engine, 1, { gates: ["g"], maxWaitMs: 4999, fairnessKey: "b" });
  fill(engine, 1, { gates: ["g", "h"], maxWaitMs: 10, fairnessKey: "c" });
  fill(engine, 1, { gates: ["g"], fairnessKey: "d" });
  const { tokens } = engine.queries.gateStats("g", 0);
  engine.cooldown("g", 5000, "429", 0);
  assert.deepEqual(
    [1, 2, 3, 4].map((id) => engine.queries.job(id)?.state),
    ["waiting", "failed", "failed", "waiting"],
  );
  const { error, attempt, state } = engine.queries.job(2)!;
  assert.deepEqual([state, attempt], ["failed", 0]);
  assert.equal(error, "gate g opens in 5000 ms; the job may wait at most 4999 ms");
  const gate = engine.queries.gateStats("g", 0);
  assert.deepEqual([gate.tokens, gate.inFlight, gate.ladderStep], [tokens, 0, 0]);
  assert.equal(gate.cooldown?.until, 5000);
  assert.equal(engine.queries.queueStats("q").failed, 2);
});

test("a job that is cancelled or leased is not failed for its wait, one that comes back is", () => {
  const engine = openEngine({ retry: { minMs: 0, maxMs: 0 } });
  fill(engine, 3, { gates: ["g"], maxWaitMs: 10 });
  const [lease] = engine.lease("q", 1, 0);
  engine.cancel(2, 0);
  engine.cooldown("g", 500, "", 0);
  assert.deepEqual(
    [1, 2, 3].map((id) => engine.queries.job(id)?.state),
    ["running", "cancelled", "failed"],
  );
  engine.nack(1, lease!.lease, 1);
  assert.equal(engine.queries.job(1)?.waited?.gate, "g");
});

test("each take of a permit moves the opening, and fails jobs that would not wait so long", () => {
  const engine = openEngine();
  engine.setGate("g", { interval: { ms: 100, from: "start" } }, 0);
  fill(engine, 1, { gates: ["g"], maxWaitMs: 50 });
  fill(engine, 1, { gates: ["g"], maxWaitMs: 150, fairnessKey: "b" });
  fill(engine, 1, { gates: ["g"], maxWaitMs: 50, fairnessKey: "c" });
  assert.deepEqual(ids(engine, 1), [1]);
  assert.deepEqual(
    [2, 3].map((id) => engine.queries.job(id)?.state),
    ["waiting", "failed"],
  );
  engine.setGate("g", { interval: { ms: 1000, from: "start" } }, 50);
  assert.equal(engine.queries.job(2)?.waited?.gate, "g");
});

test("many jobs that would not wait fail over several looks, all before the call returns", () => {
  const engine = openEngine();
  for (let i = 0; i < 1000; i++) {
    engine.add("q", { gates: ["g"], maxWaitMs: 10, fairnessKey: `k${i}` }, 0);
  }
  engine.cooldown("g", 500, "", 0);
  assert.equal(engine.queries.queueStats("q").failed, 1000);
  assert.equal(engine.queries.queueStats("q").waiting, 0);
});

test("a dead job does not wait for the gates it had, nor does one with more patience", () => {
  const engine = openEngine({ retry: { attempts: 1 } });
  fill(engine, 1, { gates: ["g"], maxWaitMs: 10 });
  engine.nack(1, engine.lease("q", 1, 0)[0]!.lease, 0);
  fill(engine, 1, { gates: ["g"], maxWaitMs: 900 });
  engine.cooldown("g", 500, "", 0);
  assert.deepEqual([engine.queries.job(1)?.state, engine.queries.job(1)?.queue], ["dead", "q.dlq"]);
  assert.equal(engine.queries.job(2)?.state, "waiting");
});

test("a promoted job waits as its new tier does, and not as the one it left", () => {
  const engine = openEngine({ tiers: 2, promoteAfterMs: 100 });
  engine.setGate("g", { interval: { ms: 1000, from: "start", factors: [0.1, 1] } }, 0);
  fill(engine, 1, { gates: ["g"], priority: 1, fairnessKey: "a" });
  fill(engine, 1, { gates: ["g"], priority: 1, maxWaitMs: 500, fairnessKey: "b" });
  engine.tick(100);
  assert.deepEqual(ids(engine, 1, 100), [1]);
  assert.equal(engine.queries.job(2)?.state, "waiting", "in tier 0 the gate opens in 100 ms");
  assert.deepEqual(ids(engine, 1, 200), [2]);
});

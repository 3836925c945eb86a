import assert from "node:assert/strict";
import { test } from "node:test";
import { open, takeOne } from "../properties/one-queue.ts";
import { each } from "../testing/test-engine.ts";

test("a failure that cools its gate down uses no attempt; the job waits for the gate", () => {
  const { engine, facts } = open({ retry: { attempts: 1 } });
  engine.add("q", { gates: ["g"] }, 0);
  const cooldown = { gate: "g", ms: 500, reason: "429" };
  engine.nack(1, takeOne(engine).lease, 0, { cooldown, error: "slow down" });
  const { state, attempt, error } = engine.queries.job(1)!;
  assert.deepEqual([state, attempt, error], ["waiting", 0, "slow down"]);
  assert.deepEqual(engine.queries.gateStats("g", 0).cooldown, { until: 500, reason: "429" });
  assert.deepEqual(each(facts.slice(-2), "fact"), ["cooled", "retried"]);
  assert.deepEqual(engine.lease("q", 1, 499), []);
  const again = takeOne(engine, 500);
  assert.deepEqual([again.attempt, again.lease], [0, 2]);
});

test("a job that does not pass the cooled gate waits as long by itself, or as it says", () => {
  const { engine } = open();
  engine.add("q", {}, 0);
  engine.nack(1, takeOne(engine).lease, 0, { cooldown: { gate: "g", ms: 500 } });
  assert.deepEqual([engine.queries.job(1)?.state, engine.queries.job(1)?.at], ["delayed", 500]);
  assert.equal(engine.queries.gateStats("g", 0).cooldown?.reason, "retry after");
  const cooldown = { gate: "g", ms: 500 };
  engine.nack(1, takeOne(engine, 500).lease, 500, { cooldown, delayMs: 9 });
  assert.equal(engine.queries.job(1)?.at, 509);
});

test("a cooldown never gets shorter by a later, weaker signal, but can be cleared by hand", () => {
  const { engine } = open();
  engine.add("q", { gates: ["g"] }, 0);
  engine.cooldown("g", 1000, "long", 0);
  engine.cooldown("g", 10, "short", 0);
  engine.cooldown("g", 0, "none", 0);
  assert.deepEqual(engine.queries.gateStats("g", 0).cooldown, { until: 1000, reason: "long" });
  assert.deepEqual(engine.lease("q", 1, 0), []);
  engine.dispatch(0);
  assert.equal(engine.nextWake(0), 1000);
  engine.clearCooldown("g", 5);
  assert.equal(engine.queries.gateStats("g", 5).cooldown, undefined);
  assert.equal(takeOne(engine, 5).id, 1);
});

test("past its deadline a job expires instead of being retried, cooled down or not", () => {
  for (const cooldown of [undefined, { gate: "g", ms: 5 }]) {
    const { engine } = open();
    engine.add("q", { gates: ["g"], deadline: 100 }, 0);
    engine.nack(1, takeOne(engine).lease, 100, { cooldown, error: "late" });
    assert.deepEqual(
      [engine.queries.job(1)?.state, engine.queries.job(1)?.error],
      ["expired", "late"],
    );
    assert.equal(engine.queries.queueStats("q").expired, 1);
  }
});

test("past its deadline a job that is given back expires, however long its gate is shut", () => {
  const { engine } = open();
  engine.setGate("g", { interval: { ms: 50, from: "end" } }, 0);
  engine.add("q", { gates: ["g"], deadline: 100, maxWaitMs: 10 }, 0);
  engine.giveBack(1, takeOne(engine).lease, 100);
  assert.equal(engine.queries.job(1)?.state, "expired");
  assert.deepEqual(
    [engine.queries.queueStats("q").expired, engine.queries.queueStats("q").failed],
    [1, 0],
  );
  assert.equal(engine.queries.gateStats("g", 100).inFlight, 0);
});

test("failures climb the ladders of the job's gates, a success steps back", () => {
  const { engine } = open({ retry: { minMs: 0, maxMs: 0 } });
  engine.setGate("rungs", { ladder: [100, 1000] }, 0);
  engine.setGate("plain", { concurrency: 5 }, 0);
  engine.add("q", { gates: ["rungs", "plain"] }, 0);
  const step = (now: number): number => engine.queries.gateStats("rungs", now).ladderStep;
  engine.nack(1, takeOne(engine).lease, 0);
  assert.deepEqual([step(0), engine.queries.gateStats("rungs", 0).opensAt], [1, 100]);
  engine.nack(1, takeOne(engine, 100).lease, 100);
  assert.deepEqual([step(100), engine.queries.gateStats("rungs", 100).opensAt], [2, 1100]);
  engine.ack(1, takeOne(engine, 1100).lease, 1100);
  assert.equal(step(1100), 1);
  assert.equal(engine.queries.gateStats("plain", 0).cooldown, undefined);
});

test("a failure may blame other gates, or none", () => {
  const { engine } = open({ retry: { minMs: 0, maxMs: 0 } });
  for (const gate of ["own", "other"]) engine.setGate(gate, { ladder: [100] }, 0);
  engine.add("q", { gates: ["own"] }, 0);
  engine.nack(1, takeOne(engine).lease, 0, { blame: false });
  assert.equal(engine.queries.gateStats("own", 0).ladderStep, 0);
  engine.nack(1, takeOne(engine).lease, 0, { blame: ["other"] });
  assert.equal(engine.queries.gateStats("own", 0).ladderStep, 0);
  assert.equal(engine.queries.gateStats("other", 0).ladderStep, 1);
});

test("successes and failures can be reported to a ladder by hand", () => {
  const { engine, facts } = open();
  engine.setGate("g", { ladder: [100, 200] }, 0);
  engine.reportGate("g", false, 0);
  engine.reportGate("g", false, 0);
  assert.equal(engine.queries.gateStats("g", 0).opensAt, 200);
  engine.reportGate("g", true, 0);
  assert.equal(engine.queries.gateStats("g", 0).ladderStep, 1);
  assert.deepEqual(facts.at(-1), { at: 0, fact: "reported", key: "g", ok: true });
  engine.reportGate("without", false, 0);
  assert.equal(engine.queries.gateStats("without", 0).ladderStep, 0);
});

test("expiry of a lease counts an attempt and blames no gate", () => {
  const { engine } = open({ leaseMs: 50, retry: { jitter: 0, minMs: 10 } });
  engine.setGate("g", { ladder: [100] }, 0);
  engine.add("q", { gates: ["g"] }, 0);
  const { lease } = takeOne(engine);
  engine.tick(50);
  const { state, attempt, at, error } = engine.queries.job(1)!;
  assert.deepEqual([state, attempt, at, error], ["delayed", 1, 60, "the lease expired"]);
  assert.equal(engine.queries.gateStats("g", 50).ladderStep, 0);
  assert.throws(() => engine.ack(1, lease, 51), { code: "LEASE_LOST" });
});

test("a failure that cools one gate down may blame another one", () => {
  const { engine } = open();
  engine.setGate("rungs", { ladder: [100] }, 0);
  engine.add("q", { gates: ["rungs", "g"] }, 0);
  const cooldown = { gate: "g", ms: 5 };
  engine.nack(1, takeOne(engine).lease, 0, { cooldown });
  assert.equal(engine.queries.gateStats("rungs", 0).ladderStep, 0, "the cooldown says it all");
  engine.nack(1, takeOne(engine, 5).lease, 5, { cooldown, blame: ["rungs"] });
  assert.equal(engine.queries.gateStats("rungs", 5).ladderStep, 1);
  assert.equal(engine.queries.job(1)?.attempt, 0);
});

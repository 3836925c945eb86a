import assert from "node:assert/strict";
import { test } from "node:test";
import type { GateConfig } from "../gates/gate-state.ts";
import { openEngine, TestEngine } from "../testing/test-engine.ts";
import type { JobSpec } from "../types.ts";

/** A partition that borrows all its gates, with free workers. */
function partition(config: GateConfig, slots = 100) {
  const engine = openEngine(
    { tiers: 3, leaseMs: 60_000 },
    { isBorrowed: (key) => !key.startsWith("own") },
  );
  engine.setGate("g", config, 0);
  engine.want("q", "w", slots, 0);
  const add = (spec: JobSpec = {}, now = 0) =>
    engine.add("q", { gates: ["g"], priority: 1, ...spec }, now);
  const grant = (lot: number, cost: number, jobs: number, { until = 1000, tier = 0 } = {}) =>
    engine.borrower.grant("g", { lot, cost, jobs, tier, until }, 0);
  const sent = (now: number) => engine.dispatch(now).map(({ id }) => id);
  const word = (now: number) => {
    const { held, uses, want } = engine.borrower.wordOf("g", now);
    return { held, uses, want };
  };
  return { engine, add, grant, sent, word };
}

test("nothing passes without a stock, and what is missing is asked for", () => {
  const { engine, add, grant, sent, word } = partition({ rate: 1000 });
  add({ cost: 2 });
  add({ cost: 3, fairnessKey: "other" });
  assert.deepEqual(sent(0), []);
  assert.equal(engine.borrower.hasNews, true);
  assert.deepEqual(engine.borrower.takeNoted(), ["g"]);
  assert.deepEqual(word(0).want, { cost: 5, jobs: 5, least: 2, tier: 1, weight: 2 });
  grant(1, 4, 4);
  assert.deepEqual(sent(0), [1]);
  assert.deepEqual(word(0), {
    held: 1,
    uses: [{ lot: 1, usedCost: 2, usedJobs: 1, isOver: false }],
    want: { cost: 3, jobs: 3, least: 1, tier: 1, weight: 1 },
  });
  grant(2, 1, 1);
  assert.deepEqual(sent(0), [2]);
  assert.deepEqual(word(0), {
    held: 2,
    uses: [
      { lot: 1, usedCost: 4, usedJobs: 2, isOver: true },
      { lot: 2, usedCost: 1, usedJobs: 0, isOver: true },
    ],
    want: undefined,
  });
  assert.deepEqual(word(0).uses, []);
});

test("a lot is not used when its time is over, and goes back", () => {
  const { engine, add, grant, sent, word } = partition({ rate: 1000 }, 0);
  add();
  grant(1, 5, 5, { until: 300 });
  grant(1, 5, 5, { until: 300 });
  assert.equal(engine.nextWake(0), 300);
  engine.want("q", "w", 1, 300);
  assert.deepEqual(sent(300), []);
  assert.deepEqual(word(300).uses, [{ lot: 1, usedCost: 0, usedJobs: 0, isOver: true }]);
  assert.equal(word(300).want?.cost, 1);
});

test("what is not needed any more goes back at once", () => {
  const { engine, add, grant, word } = partition({ rate: 1000 });
  add();
  grant(1, 5, 5);
  engine.cancel(1, 0);
  assert.deepEqual(word(0).uses, [{ lot: 1, usedCost: 0, usedJobs: 0, isOver: true }]);
  assert.equal(word(0).want, undefined);
});

test("who uses up what it got is asked for more, and who does not for less", () => {
  const { add, grant, sent, word } = partition({ rate: 1000 }, 100);
  for (let i = 0; i < 60; i++) add({}, 0);
  const jobs = () => word(0).want?.jobs;
  assert.equal(jobs(), 60);
  grant(1, 4, 4);
  assert.equal(sent(0).length, 4);
  assert.equal(jobs(), 56);
});

test("a queue without a worker asks for nothing", () => {
  const { engine, add, word } = partition({ concurrency: 3 }, 0);
  add();
  assert.equal(word(0).want, undefined);
  engine.want("q", "w", 1, 0);
  assert.equal(word(0).want?.least, 1);
  assert.equal(engine.borrower.wordOf("g", 0).mustBeDurable, true);
  engine.want("q", "w", 0, 0);
  assert.equal(word(0).want, undefined);
});

test("a permit of an interval is good for tiers that wait no longer than its own", () => {
  const { add, grant, sent } = partition({
    interval: { ms: 100, from: "start", factors: [0.5, 1, 2] },
  });
  add({ priority: 2 });
  grant(1, 1, 1, { tier: 1 });
  assert.deepEqual(sent(0), []);
  add({ priority: 0 });
  assert.deepEqual(sent(0), [2]);
});

test("a cooldown stops the gate, gives its stock back and asks again when it is over", () => {
  const { engine, add, grant, sent, word } = partition({ rate: 1000 }, 0);
  add();
  grant(1, 5, 5, { until: 9000 });
  const cooldown = { ms: 500, reason: "429", ladderStep: 0 };
  engine.lender.hearNews({ gate: "g", cooldown }, 0);
  engine.want("q", "w", 1, 0);
  assert.deepEqual(sent(0), []);
  assert.deepEqual(word(0).uses, [{ lot: 1, usedCost: 0, usedJobs: 0, isOver: true }]);
  assert.equal(word(0).want, undefined);
  assert.equal(engine.nextWake(0), 500);
  engine.tick(500);
  assert.equal(word(500).want?.least, 1);
  engine.lender.hearNews({ gate: "g", cooldown }, 500);
  engine.lender.hearNews({ gate: "g", isCleared: true }, 500);
  assert.equal(word(500).want?.least, 1);
});

test("reports what moves a ladder to the home, and a cooldown to all partitions", () => {
  const { engine, add, grant } = partition({ rate: 1000, ladder: [1000, 2000] });
  engine.cooldown("g", 10, "by hand", 0);
  engine.clearCooldown("g", 0);
  assert.deepEqual(engine.lender.takeNews(), [
    { gate: "g", cooldown: { ms: 10, reason: "by hand", ladderStep: 0 } },
    { gate: "g", isCleared: true },
  ]);
  for (let i = 0; i < 4; i++) add({ attempts: 9 });
  grant(1, 4, 4);
  const leases = engine.dispatch(0);
  engine.ack(leases[0]!.id, 1, 0);
  assert.deepEqual(engine.lender.takeNews(), []);
  engine.nack(leases[1]!.id, 1, 0, {});
  assert.deepEqual(engine.lender.takeNews(), [{ gate: "g", isOk: false }]);
  assert.equal(engine.queries.gateStats("g", 0).ladderStep, 0);
  const cooldown = { ms: 1000, reason: "failure", ladderStep: 1 };
  engine.lender.hearNews({ gate: "g", cooldown }, 0);
  engine.ack(leases[2]!.id, 1, 0);
  assert.deepEqual(engine.lender.takeNews(), [{ gate: "g", isOk: true }]);
  const home = new TestEngine({ isBorrowed: () => false });
  home.setGate("g", { ladder: [1000, 2000] }, 0);
  home.lender.hearNews({ gate: "g", isOk: false }, 0);
  const reason = "failure, step 1 of 2";
  assert.deepEqual(home.lender.takeNews(), [
    { gate: "g", cooldown: { ms: 1000, reason, ladderStep: 1 } },
  ]);
});

test("a gate without limits is passed without a stock, and takes none of it", () => {
  const { engine, add, grant, sent, word } = partition({ rate: 1 });
  add();
  grant(1, 5, 5);
  engine.deleteGate("g", 0);
  assert.deepEqual(sent(0), [1]);
  assert.deepEqual(word(0).uses, [{ lot: 1, usedCost: 0, usedJobs: 0, isOver: true }]);
  engine.add("q", { gates: ["own:1"] }, 0);
  assert.deepEqual(sent(0), [2]);
  engine.borrower.grant("own:1", { lot: 1, cost: 1, jobs: 1, tier: 0, until: 9 }, 0);
  assert.deepEqual(engine.borrower.wordOf("own:1", 0).uses, []);
  assert.deepEqual(engine.borrower.wordOf("unknown", 0).held, 0);
});

test("a job with a borrowed gate and another takes both permits or none", () => {
  const { engine, add, grant, sent, word } = partition({ rate: 1000 });
  engine.setGate("own:1", { concurrency: 1 }, 0);
  engine.add("q", { gates: ["own:1"] }, 0);
  assert.deepEqual(sent(0), [1]);
  add({ gates: ["g", "own:1"], cost: 2 });
  add({ fairnessKey: "single" });
  assert.deepEqual(sent(0), []);
  assert.equal(word(0).want?.least, 1, "it waits for the place first, and asks for nothing");
  grant(1, 3, 3);
  assert.deepEqual(sent(0), [3]);
  engine.ack(1, 1, 0);
  assert.deepEqual(sent(0), [2]);
});

test("a claim of several gates is asked for, and others leave it its permit", () => {
  const { engine, add, grant, sent, word } = partition({ rate: 1000 });
  engine.setGate("own:1", { rate: 1, burst: 1 }, 0);
  add({ gates: ["own:1"] });
  assert.deepEqual(sent(0), [1]);
  add({ gates: ["g", "own:1"], fairnessKey: "both" });
  add({ fairnessKey: "single" });
  grant(1, 1, 1, { until: 5000 });
  assert.deepEqual(sent(0), [3]);
  assert.deepEqual(sent(1000), []);
  assert.deepEqual(word(1000).want, { cost: 1, jobs: 1, least: 1, tier: 1, weight: 1 });
  add({ fairnessKey: "single" }, 1000);
  assert.equal(word(1000).want?.least, 2);
  grant(2, 1, 1, { until: 5000 });
  assert.deepEqual(sent(1000), [2]);
  grant(3, 1, 1, { until: 5000 });
  assert.deepEqual(sent(1000), [4]);
});

test("after a restart a borrower knows what it runs, and has no stock", () => {
  const { engine, add, grant, sent } = partition({ concurrency: 5 });
  add();
  add();
  grant(1, 5, 1);
  assert.equal(sent(0).length, 1);
  const copy = new TestEngine({ isBorrowed: () => true });
  for (const fact of engine.snapshot()) copy.apply(fact);
  copy.endReplay();
  assert.deepEqual(copy.borrower.all(), ["g"]);
  assert.deepEqual(copy.borrower.wordOf("g", 0).held, 1);
  assert.equal(copy.queries.why(2, 0).state, "waiting");
  copy.ack(1, 1, 0);
  assert.equal(copy.borrower.wordOf("g", 0).held, 0);
});

test("a gate that is forgotten with its last job reports the release once it is durable", () => {
  const { engine, add, grant, sent } = partition({ concurrency: 1 });
  add();
  grant(1, 1, 1);
  assert.deepEqual(sent(0), [1]);
  engine.borrower.wordOf("g", 0);
  engine.deleteQueue("q", 10);
  engine.tick(2000);
  assert.deepEqual(engine.borrower.takeNoted(), ["g"]);
  const { held, uses, mustBeDurable } = engine.borrower.wordOf("g", 2000);
  assert.deepEqual({ held, uses, mustBeDurable }, { held: 0, uses: [], mustBeDurable: true });
});

test("why names the part of the limits that is borrowed", () => {
  const part = (config: GateConfig) => {
    const { engine, add } = partition(config);
    add();
    const why = engine.queries.why(1, 0);
    return "part" in why ? why.part : why.state;
  };
  assert.equal(part({ rate: 1 }), "rate");
  assert.equal(part({ windows: [{ limit: 1, perMs: 1000 }] }), "window");
  assert.equal(part({ interval: { ms: 1, from: "start" } }), "interval");
  assert.equal(part({ concurrency: 1 }), "concurrency");
  assert.equal(part({ ladder: [1] }), "concurrency");
});

test("reports only borrowed gates that are in use to a home that has forgotten them", () => {
  const { engine, add } = partition({ rate: 1000 });
  engine.setGate("own:1", { rate: 0 }, 0);
  engine.setGate("idle", { rate: 1000 }, 0);
  add({ gates: ["own:1"] });
  engine.borrower.grant("idle", { lot: 9, cost: 1, jobs: 1, tier: 0, until: 10 }, 0);
  add();
  engine.borrower.wordOf("idle", 20);
  assert.deepEqual(engine.borrower.all(), ["g"]);
});

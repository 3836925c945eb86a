import assert from "node:assert/strict";
import { test } from "node:test";
import { Refusal } from "../errors.ts";
import type { Fact } from "../facts/facts.ts";
import { each, openTelling, type QueueChange, type TestEngine } from "../testing/test-engine.ts";
import { addSteps } from "./add.ts";

function open(options: QueueChange = {}): { engine: TestEngine; facts: Fact[] } {
  const { engine, facts } = openTelling(options);
  facts.length = 0;
  return { engine, facts };
}

test("a job that says nothing waits in the last tier and costs 1", () => {
  const { engine, facts } = open();
  assert.deepEqual(engine.add("q", {}, 5), { id: 1, tier: 3 });
  assert.deepEqual(engine.queries.job(1), {
    id: 1,
    queue: "q",
    state: "waiting",
    tier: 3,
    fairnessKey: "",
    weight: 1,
    gates: [],
    cost: 1,
    attempt: 0,
    attempts: 5,
    lease: 0,
    deliveries: 0,
    addedAt: 5,
    body: undefined,
  });
  assert.equal(facts.length, 1);
});

test("a job carries the options of its add", () => {
  const { engine } = open({ tiers: ["urgent", "normal"] });
  const { id, tier } = engine.add(
    "q",
    {
      fairnessKey: ["acme", "user-7"],
      weight: 4,
      priority: "urgent",
      gates: ["b", "a", "b"],
      cost: 3,
      attempts: 9,
      group: "g",
      leaseMs: 77,
      deadline: 1000,
      dedupe: { key: "k", mode: "pending" },
      body: { to: "x" },
    },
    5,
  );
  const view = engine.queries.job(id)!;
  assert.equal(tier, 0);
  assert.deepEqual(view.gates.toSorted(), ["a", "b"]);
  const { fairnessKey, weight, cost, attempts, group, deadline, dedupe, body } = view;
  assert.deepEqual(
    { fairnessKey, weight, cost, attempts, group, deadline, dedupe, body },
    {
      fairnessKey: ["acme", "user-7"],
      weight: 4,
      cost: 3,
      attempts: 9,
      group: "g",
      deadline: 1000,
      dedupe: "k",
      body: { to: "x" },
    },
  );
  const [lease] = engine.lease("q", 1, 10);
  assert.equal(lease?.expiresAt, 87);
});

test("a delayed job waits for its time, given as a delay or as a time", () => {
  const { engine } = open();
  engine.add("q", { delayMs: 100 }, 50);
  engine.add("q", { runAt: 120 }, 50);
  engine.add("q", { runAt: 10 }, 50);
  engine.add("q", { delayMs: 0 }, 50);
  assert.deepEqual(
    [1, 2, 3, 4].map((id) => engine.queries.job(id)?.state),
    ["delayed", "delayed", "waiting", "waiting"],
  );
  assert.equal(engine.queries.job(1)?.at, 150);
  assert.equal(engine.nextWake(50), 120);
  engine.tick(149);
  assert.equal(engine.queries.job(2)?.state, "waiting");
  assert.equal(engine.queries.job(1)?.state, "delayed");
  engine.tick(150);
  assert.equal(engine.queries.job(1)?.state, "waiting");
});

test("a cost that a gate can never pass is refused with the gate's name", () => {
  const { engine, facts } = open();
  engine.setGate("g", { rate: 1, burst: 3, windows: [{ limit: 2, perMs: 1000 }] }, 0);
  facts.length = 0;
  assert.throws(() => engine.add("q", { cost: 3, gates: ["open", "g"] }, 0), {
    code: "INVALID",
    details: { field: "job.cost", value: 3, gate: "g" },
  });
  assert.equal(engine.add("q", { cost: 2, gates: ["open", "g"] }, 0).id, 1);
  assert.equal(facts.length, 1);
});

test("a job that would not wait for its gate is refused at once, and nothing is touched", () => {
  const { engine } = open();
  engine.setGate("g", { rate: 1, burst: 5 }, 0);
  engine.cooldown("g", 1000, "busy", 0);
  const before = engine.queries.gateStats("g", 0);
  assert.throws(() => engine.add("q", { gates: ["open", "g"], maxWaitMs: 999 }, 0), {
    code: "WAIT_TOO_LONG",
    details: { gate: "g", wait: 1000, maxWait: 999 },
  });
  assert.deepEqual(engine.queries.gateStats("g", 0), before);
  assert.equal(engine.add("q", { gates: ["g"], maxWaitMs: 1000 }, 0).id, 1);
  assert.equal(engine.add("q", { maxWaitMs: 0 }, 0).id, 2, "without gates there is no wait");
});

test("the wait of a delayed job is judged when it is due, from then on", () => {
  const { engine } = open();
  engine.cooldown("g", 1000, "busy", 0);
  const job = { gates: ["g"], maxWaitMs: 100 };
  for (const delayMs of [899, 900]) engine.add("q", { ...job, delayMs }, 0);
  engine.add("q", { ...job, runAt: 5000 }, 0);
  engine.tick(899);
  engine.tick(900);
  assert.equal(
    engine.queries.job(1)?.error,
    "gate g opens in 101 ms; the job may wait at most 100 ms",
  );
  assert.deepEqual(
    [1, 2, 3].map((id) => engine.queries.job(id)?.state),
    ["failed", "waiting", "delayed"],
  );
});

test("a gate with a rate of 0 does not open by itself, and the refusal says so", () => {
  const { engine } = open();
  engine.setGate("g", { rate: 0 }, 0);
  assert.throws(() => engine.add("q", { gates: ["g"], maxWaitMs: 5 }, 0), {
    code: "WAIT_TOO_LONG",
    message: "gate g does not open by itself; the job may wait at most 5 ms",
  });
});

test("a wait for a place or for others in line does not count", () => {
  const { engine } = open();
  engine.setGate("one", { concurrency: 1 }, 0);
  for (let i = 0; i < 3; i++) engine.add("q", { gates: ["one"], maxWaitMs: 0 }, 0);
  engine.lease("q", 1, 0);
  engine.add("q", { gates: ["one"], maxWaitMs: 0 }, 500);
  engine.tick(500);
  assert.equal(engine.queries.queueStats("q").waiting, 3);
});

test("a refused add leaves no gate behind", () => {
  const { engine } = open({ capacity: { jobs: 1 } });
  engine.add("q", {}, 0);
  assert.throws(() => engine.add("q", { gates: ["new", "newer"] }, 0), { code: "QUEUE_FULL" });
  assert.throws(() => engine.add("q", { gates: ["newest"] }, 0), { code: "QUEUE_FULL" });
  assert.deepEqual(engine.gateKeys(), []);
});

test("without fairness all keys are one lane, first in first out", () => {
  const { engine } = open({ fairness: false });
  for (const body of ["a", "a", "a", "b"]) engine.add("q", { fairnessKey: body, body }, 0);
  assert.deepEqual(each(engine.lease("q", 4, 0), "body"), ["a", "a", "a", "b"]);
  assert.equal(engine.queries.job(4)?.fairnessKey, "");
});

test("the latest weight of a lane's jobs rules it", () => {
  const { engine } = open();
  for (const weight of [2, 2, 5]) engine.add("q", { fairnessKey: "a", weight }, 0);
  assert.equal(engine.queries.job(1)?.weight, 5);
  engine.add("q", { fairnessKey: "a" }, 0);
  assert.equal(engine.queries.job(4)?.weight, 5, "one that names none changes nothing");
});

test("in a batch each item has its own answer, and a refused one does not stop the others", () => {
  const { engine, facts } = open({ capacity: { jobs: 2 }, onFull: "reject" });
  const results = engine.addAll("q", [{}, { priority: 9 }, {}, {}], 0);
  assert.deepEqual(
    results.map((result) => (result instanceof Refusal ? result.code : result.id)),
    [1, "INVALID", 2, "QUEUE_FULL"],
  );
  assert.equal(facts.length, 2);
  assert.deepEqual(engine.addAll("q", [], 0), []);
});

test("an error that is no refusal is not taken for one", () => {
  const { engine } = open();
  const spec = {
    get cost(): number {
      throw new TypeError("broken");
    },
  };
  assert.throws(() => engine.addAll("q", [spec], 0), TypeError);
});

test("emits facts in the order of the calls, with the time of the call", () => {
  const { engine, facts } = open();
  engine.add("q", { body: 1, delayMs: 5 }, 10);
  engine.add("q", { body: 2, dedupe: { key: "k", mode: "debounce" }, delayMs: 7 }, 3);
  engine.add("q", { body: 3, dedupe: { key: "k", mode: "debounce" }, delayMs: 7 }, 12);
  engine.add("q", { body: 4, dedupe: { key: "l", mode: "replace" } }, 12);
  engine.add("q", { body: 5, dedupe: { key: "l", mode: "replace" } }, 13);
  assert.deepEqual(
    facts.map((fact) => [fact.at, fact.fact]),
    [
      [10, "job"],
      [10, "job"],
      [12, "replaced"],
      [12, "moved"],
      [12, "job"],
      [13, "replaced"],
      [13, "moved"],
    ],
  );
  assert.deepEqual(facts[2], { at: 12, fact: "replaced", id: 2, sizeBytes: 0, body: 3, until: 19 });
  assert.deepEqual(facts[5], { at: 13, fact: "replaced", id: 3, sizeBytes: 0, body: 5 });
});

test("a plain job is one step; gates and further levels of a path are two each", () => {
  assert.equal(addSteps({}), 1);
  assert.equal(addSteps({ fairnessKey: "a" }), 1);
  assert.equal(addSteps({ fairnessKey: ["a"] }), 1);
  assert.equal(addSteps({ fairnessKey: ["a", "b", "c", "d"] }), 7);
  assert.equal(addSteps({ gates: Array.from({ length: 16 }, (_, i) => `g${i}`) }), 33);
});

test("an item that is not a job is a plain one: adding it refuses it", () => {
  for (const item of [undefined, { gates: 5, fairnessKey: [] }]) assert.equal(addSteps(item), 1);
});

test("a backoff is checked together with the queue's", () => {
  const { engine, facts } = open({ retry: { minMs: 10, maxMs: 100 } });
  facts.length = 0;
  for (const backoff of [{ minMs: 101 }, { maxMs: 9 }, { minMs: 7, maxMs: 6 }]) {
    assert.throws(() => engine.add("q", { backoff }, 0), {
      code: "INVALID",
      details: { field: "job.backoff.min", value: backoff.minMs ?? 10 },
    });
  }
  assert.deepEqual(facts, []);
  engine.add("q", { backoff: { minMs: 100 } }, 0);
});

test("a job that is debounced needs a delay", () => {
  const { engine } = open();
  const dedupe = { key: "k", mode: "debounce" } as const;
  assert.throws(() => engine.add("q", { dedupe }, 0), { message: /^job.delay must be given/ });
  assert.equal(engine.add("q", { dedupe, delayMs: 5 }, 0).id, 1);
});

test("numbers that the port would refuse are a bug of the caller", () => {
  const { engine, facts } = open();
  facts.length = 0;
  for (const wrong of [{ cost: 0 }, { attempts: Number.NaN }, { sizeBytes: -1 }]) {
    assert.throws(() => engine.add("q", wrong, 0), TypeError);
  }
  assert.deepEqual(facts, []);
});

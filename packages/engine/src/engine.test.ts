import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact } from "./facts/facts.ts";
import type { RefusalDetails } from "./index.ts";
import { Refusal } from "./index.ts";
import { openEngine, TestEngine } from "./testing/test-engine.ts";

/** A world with a job in every state, and the facts emitted since. */
function open(): { engine: TestEngine; facts: Fact[] } {
  const facts: Fact[] = [];
  const engine = new TestEngine({ facts });
  engine.setQueue(
    "q",
    { tiers: ["high", "low"], capacity: { jobs: 2 }, results: { jobs: 2 } },
    100,
  );
  engine.setGate("slow", { rate: 1 }, 100);
  for (const body of [1, 2, 3, 4]) engine.addAll("q", [{ body }], 100);
  const [a, b] = engine.lease("q", 2, 100);
  engine.addAll("q", [{ body: 3 }, { body: 4 }, { delayMs: 900 }], 100);
  engine.ack(a!.id, a!.lease, 100, "done");
  engine.extend(b!.id, b!.lease, 500, 100);
  facts.length = 0;
  return { engine, facts };
}

const WAITING = 3;
const DELAYED = 5;
const LEASED = 2;
const FINISHED = 1;
const UNKNOWN = 999;

function stateOf(engine: TestEngine): unknown {
  const { rejected: _, ...stats } = engine.queries.queueStats("q");
  return {
    stats,
    gates: engine.gateKeys(),
    gate: engine.queries.gateStats("slow", 100),
    names: engine.queries.queueNames(),
    config: engine.queueConfig("q"),
    jobs: [1, 2, 3, 4, 5].map((id) => engine.queries.job(id)),
    snapshot: [...engine.snapshot()].filter(({ fact }) => fact !== "counters"),
  };
}

type Call = (engine: TestEngine) => unknown;

/** Each call is refused like this, tells nothing and leaves everything as it was. */
function refused(code: string, details: RefusalDetails, calls: Call[]): void {
  for (const call of calls) {
    const { engine, facts } = open();
    const before = stateOf(engine);
    assert.throws(
      () => call(engine),
      (error: unknown) => {
        assert.ok(error instanceof Refusal, String(error));
        assert.deepEqual([error.code, error.details], [code, details], String(call));
        return true;
      },
    );
    assert.deepEqual(facts, [], String(call));
    assert.deepEqual(stateOf(engine), before, String(call));
  }
}

test("a queue that is not there is QUEUE_NOT_FOUND in every call that names one", () => {
  refused("QUEUE_NOT_FOUND", { field: "queue", value: "x" }, [
    (engine) => engine.deleteQueue("x", 100),
    (engine) => engine.pause("x", 100),
    (engine) => engine.resume("x", 100),
    (engine) => engine.purge("x", 100),
    (engine) => engine.queueConfig("x"),
    (engine) => engine.queries.queueStats("x"),
    (engine) => engine.queries.lanes("x"),
    (engine) => engine.setLaneWeight("x", "k", 2, 100),
    (engine) => engine.add("x", {}, 100),
    (engine) => engine.addAll("x", [{}], 100),
    (engine) => engine.want("x", "w", 1, 100),
    (engine) => engine.want("x", "w", 0, 100),
    (engine) => engine.lease("x", 1, 100),
    (engine) => engine.cancelByKey("x", "k", 100),
    (engine) => engine.redrive("x", {}, 100),
  ]);
});

test("an id that was never issued is JOB_NOT_FOUND in every call that names one", () => {
  refused("JOB_NOT_FOUND", { field: "id", value: UNKNOWN }, [
    (engine) => engine.ack(UNKNOWN, 1, 100),
    (engine) => engine.nack(UNKNOWN, 1, 100),
    (engine) => engine.giveBack(UNKNOWN, 1, 100),
    (engine) => engine.extend(UNKNOWN, 1, 100, 100),
    (engine) => engine.cancel(UNKNOWN, 100),
    (engine) => engine.retry(UNKNOWN, 100),
    (engine) => engine.queries.why(UNKNOWN, 100),
    (engine) => engine.queries.history(UNKNOWN),
  ]);
  for (const id of [0, -1, 1.5, Number.NaN]) {
    refused("JOB_NOT_FOUND", { field: "id", value: id }, [(engine) => engine.cancel(id, 100)]);
  }
});

test("a lease that is over, or another's, is LEASE_LOST", () => {
  for (const [id, lease] of [
    [LEASED, 2],
    [LEASED, 0],
    [WAITING, 1],
    [DELAYED, 1],
  ] as const) {
    refused("LEASE_LOST", { field: "lease", value: lease }, [
      (engine) => engine.ack(id, lease, 100),
      (engine) => engine.nack(id, lease, 100),
      (engine) => engine.giveBack(id, lease, 100),
      (engine) => engine.extend(id, lease, 100, 100),
    ]);
  }
});

test("a job that has ended is ALREADY_FINISHED, kept or forgotten", () => {
  const calls: Call[] = [
    (engine) => engine.ack(FINISHED, 1, 100),
    (engine) => engine.nack(FINISHED, 1, 100),
    (engine) => engine.giveBack(FINISHED, 1, 100),
    (engine) => engine.extend(FINISHED, 1, 100, 100),
  ];
  refused("ALREADY_FINISHED", { field: "id", value: FINISHED }, calls);
  const { engine } = open();
  engine.tick(1_000_000);
  assert.equal(engine.queries.job(FINISHED), undefined, "forgotten");
  for (const call of calls) assert.throws(() => call(engine), { code: "ALREADY_FINISHED" });
  assert.throws(() => engine.retry(FINISHED, 1_000_000), {
    code: "ALREADY_FINISHED",
    details: { field: "id", value: FINISHED },
  });
  assert.throws(() => engine.queries.why(FINISHED, 1_000_000), { code: "ALREADY_FINISHED" });
  assert.deepEqual(engine.queries.history(FINISHED), []);
  assert.equal(engine.cancel(FINISHED, 1_000_000), false);
});

test("a job that waits or is leased cannot be run again: CONFLICT", () => {
  for (const id of [WAITING, LEASED]) {
    refused("CONFLICT", { field: "id", value: id }, [(engine) => engine.retry(id, 100)]);
  }
});

test("a full queue is QUEUE_FULL, a wait too long WAIT_TOO_LONG", () => {
  refused("QUEUE_FULL", { queue: "q", retryAfterMs: 1000 }, [(engine) => engine.add("q", {}, 100)]);
  const { engine } = open();
  engine.cooldown("slow", 50, "", 100);
  const spec = { gates: ["slow"], maxWaitMs: 49 };
  const details = { gate: "slow", wait: 50, maxWait: 49 };
  assert.throws(() => engine.add("q", spec, 100), { code: "WAIT_TOO_LONG", details });
});

test("deleting a gate without a configuration is refused: GATE_NOT_FOUND", () => {
  for (const gate of ["other", "slow*"]) {
    refused("GATE_NOT_FOUND", { field: "gate", value: gate }, [
      (engine) => engine.deleteGate(gate, 100),
    ]);
  }
});

test("only a dead letter queue can be redriven: NOT_A_DLQ", () => {
  refused("NOT_A_DLQ", { field: "queue", value: "q" }, [(engine) => engine.redrive("q", {}, 100)]);
});

test("refuses invalid values as INVALID, with the field and the value", () => {
  const cases: [string, unknown, Call][] = [
    ["weight", 0, (engine) => engine.setLaneWeight("q", "k", 0, 100)],
    ["job.priority", 9, (engine) => engine.add("q", { priority: 9 }, 100)],
    ["job.priority", -1, (engine) => engine.add("q", { priority: -1 }, 100)],
    ["job.priority", 0.5, (engine) => engine.add("q", { priority: 0.5 }, 100)],
    ["job.priority", "no", (engine) => engine.add("q", { priority: "no" }, 100)],
    ["slots", -1, (engine) => engine.want("q", "w", -1, 100)],
    ["ms", 0, (engine) => engine.extend(LEASED, 1, 0, 100)],
    ["id", "1", (engine) => engine.cancel("1" as never, 100)],
    ["count", -1, (engine) => engine.redrive("q", { count: -1 }, 100)],
    ["now", Number.NaN, (engine) => engine.tick(Number.NaN)],
    ["now", -1, (engine) => engine.nextWake(-1)],
    ["now", Infinity, (engine) => engine.dispatch(Infinity)],
  ];
  for (const [field, value, call] of cases) refused("INVALID", { field, value }, [call]);
});

test("time never goes back: a smaller now is the largest one seen", () => {
  const { engine, facts } = open();
  engine.dispatch(500);
  engine.stores.put("s", "k", 1, 10);
  assert.equal(facts.at(-1)?.at, 500);
  assert.equal(engine.nextWake(0), 600);
});

test("the reported memory grows with what the engine holds", () => {
  const engine = openEngine({}, { seed: 3 });
  const before = engine.queries.memory();
  for (let i = 0; i < 50_000; i++) engine.add("q", { fairnessKey: `k${i}`, delayMs: 50 }, 0);
  const after = engine.queries.memory();
  for (const part of ["jobs", "lanes", "keys", "ids", "timers"] as const) {
    assert.ok(after[part] > before[part], part);
  }
  assert.ok(engine.queries.steps >= 0);
});

test("a rule for many lanes is no key of one lane, and is INVALID", () => {
  const { engine, facts } = open();
  for (const key of ["a*", ["a", "b*"]]) {
    const set = (): void => engine.setLaneWeight("q", key, 2, 100);
    assert.throws(set, { name: "Refusal", code: "INVALID" }, JSON.stringify(key));
  }
  assert.deepEqual(facts, []);
});

test("a step of the wall clock that is no whole number of milliseconds is INVALID", () => {
  const { engine, facts } = open();
  for (const aheadMs of [0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => engine.setWallAhead(aheadMs, 100), { code: "INVALID" }, `${aheadMs}`);
  }
  assert.deepEqual([facts, engine.wall.aheadMs], [[], 0]);
});

test("the progress of a job is kept until it has ended", () => {
  const { engine, facts } = open();
  assert.equal(engine.progress(LEASED, { done: 1 }, 100), true);
  assert.deepEqual(engine.queries.job(LEASED)?.progress, { done: 1 });
  const told = facts.length;
  assert.equal(engine.progress(FINISHED, { done: 2 }, 100), false);
  assert.equal(facts.length, told);
});

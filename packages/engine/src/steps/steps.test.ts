import assert from "node:assert/strict";
import { test } from "node:test";
import type { RefusalCode } from "../errors.ts";
import { Refusal } from "../errors.ts";
import { openEngine, openTelling, rebuilt, type TestEngine } from "../testing/test-engine.ts";
import type { JobSpec, Lease } from "../types.ts";
import type { StepKind } from "./step-types.ts";

const DAY = 86_400_000;

const run = (name: string, occurrence = 0) => ({ name, occurrence, kind: "run" as StepKind });
const sleep = (occurrence = 0) => ({ name: "", occurrence, kind: "sleep" as StepKind });
const wait = (name: string, occurrence = 0) => ({ name, occurrence, kind: "wait" as StepKind });

function begun(spec: JobSpec = {}, engine = openEngine()): { engine: TestEngine; lease: Lease } {
  engine.add("q", spec, 0);
  return { engine, lease: take(engine, 0)! };
}

function take(engine: TestEngine, now: number): Lease | undefined {
  return engine.lease("q", 1, now)[0];
}

function record(engine: TestEngine, { id, lease }: Lease, name: string, body: unknown, now = 0) {
  engine.steps.record(id, lease, { ...run(name), sizeBytes: 1, body }, now);
}

function refuses(call: () => void, code: RefusalCode, message?: RegExp): void {
  assert.throws(call, (error) => {
    assert.ok(error instanceof Refusal);
    assert.equal(error.code, code);
    if (message !== undefined) assert.match(error.message, message);
    return true;
  });
}

test("a recorded result is there for the next run, and stays as it was first recorded", () => {
  const { engine, lease } = begun();
  record(engine, lease, "charge", "a");
  record(engine, lease, "charge", "b");
  engine.nack(lease.id, lease.lease, 0, { delayMs: 0 });
  const { steps } = engine.queries.stepsOf(lease.id);
  assert.deepEqual(
    steps.map(({ name, isDone, body }) => [name, isDone, body]),
    [["charge", true, "a"]],
  );
  assert.equal(engine.queries.job(lease.id)?.steps, 1);
});

test("a sleeping job holds nothing, and counts neither an attempt nor a delivery", () => {
  const engine = openEngine();
  engine.setGate("model", { concurrency: 1 }, 0);
  const { lease } = begun({ gates: ["model"] }, engine);
  assert.equal(
    engine.steps.suspend(lease.id, lease.lease, { ...sleep(), until: 3 * DAY }, 0),
    true,
  );
  assert.equal(engine.queries.gateStats("model", 0).inFlight, 0);
  const { state, at, deliveries, attempt } = engine.queries.job(lease.id)!;
  assert.deepEqual([state, at, deliveries, attempt], ["delayed", 3 * DAY, 0, 0]);
  refuses(() => engine.ack(lease.id, lease.lease, 1), "LEASE_LOST");
  const again = take(engine, 3 * DAY)!;
  assert.equal(again.id, lease.id);
  assert.equal(again.attempt, 0);
  assert.equal(engine.queries.job(lease.id)!.deliveries, 1);
  assert.equal(engine.queries.stepsOf(lease.id).steps[0]!.isDone, true);
});

test("a continued job goes to the front of its strand", () => {
  const { engine, lease } = begun();
  for (let i = 0; i < 5; i++) engine.add("q", {}, 1);
  engine.steps.suspend(lease.id, lease.lease, { ...sleep(), until: 10 }, 2);
  engine.add("q", {}, 3);
  assert.equal(take(engine, 10)!.id, lease.id);
});

test("a signal continues the job that waits for it, and its value is the result", () => {
  const { engine, lease } = begun();
  const until = Number.POSITIVE_INFINITY;
  engine.steps.suspend(lease.id, lease.lease, { ...wait("approved"), until }, 0);
  assert.equal(engine.nextWake(1), Number.POSITIVE_INFINITY);
  engine.steps.signal(lease.id, { name: "other", sizeBytes: 1, body: "no" }, 1);
  assert.equal(take(engine, 2), undefined);
  engine.steps.signal(lease.id, { name: "approved", sizeBytes: 1, body: "yes" }, 3);
  assert.equal(take(engine, 3)!.id, lease.id);
  const { steps, signals } = engine.queries.stepsOf(lease.id);
  assert.equal(signals.find(({ index }) => index === steps[0]!.signal)!.body, "yes");
});

test("a signal that comes early is kept, and the wait does not suspend", () => {
  const { engine, lease } = begun();
  engine.steps.signal(lease.id, { name: "approved", sizeBytes: 1, body: "yes" }, 0);
  const until = Number.POSITIVE_INFINITY;
  assert.equal(
    engine.steps.suspend(lease.id, lease.lease, { ...wait("approved"), until }, 1),
    false,
  );
  const { steps, signals } = engine.queries.stepsOf(lease.id);
  assert.equal(steps[0]!.signal, signals[0]!.index);
  // The next wait of the name needs a signal of its own.
  assert.equal(
    engine.steps.suspend(lease.id, lease.lease, { ...wait("approved", 1), until }, 1),
    true,
  );
});

test("a wait that is over in time has no signal, and a late one is for the next wait", () => {
  const { engine, lease } = begun();
  engine.steps.suspend(lease.id, lease.lease, { ...wait("ok"), until: 100 }, 0);
  const again = take(engine, 100)!;
  const [step] = engine.queries.stepsOf(lease.id).steps;
  assert.deepEqual([step!.isDone, step!.signal], [true, -1]);
  engine.steps.signal(lease.id, { name: "ok", sizeBytes: 1, body: 1 }, 101);
  const suspension = { ...wait("ok", 1), until: 200 };
  assert.equal(engine.steps.suspend(again.id, again.lease, suspension, 102), false);
});

test("at most 100 signals are kept, and none for a job that has ended", () => {
  const { engine, lease } = begun();
  const send = () => engine.steps.signal(lease.id, { name: "s", sizeBytes: 1, body: 1 }, 0);
  for (let i = 0; i < 100; i++) send();
  refuses(send, "LIMIT_REACHED", /100 signals/);
  engine.ack(lease.id, lease.lease, 1);
  refuses(send, "ALREADY_FINISHED");
  refuses(() => engine.steps.signal(99, { name: "s", sizeBytes: 1, body: 1 }, 1), "JOB_NOT_FOUND");
});

test("the gates of a step keep the job until they are open, in addition to its own", () => {
  const engine = openEngine();
  engine.setGate("model", { concurrency: 1 }, 0);
  engine.setGate("own", { concurrency: 5 }, 0);
  const { lease: holder } = begun({ gates: ["model"] }, engine);
  const { lease } = begun({ gates: ["own"] }, engine);
  engine.steps.suspend(lease.id, lease.lease, { ...run("ask"), until: 0, gates: ["model"] }, 1);
  assert.deepEqual([...engine.queries.job(lease.id)!.gates].sort(), ["model", "own"]);
  assert.equal(take(engine, 1), undefined);
  engine.ack(holder.id, holder.lease, 2);
  const granted = take(engine, 2)!;
  assert.equal(granted.id, lease.id);
  assert.deepEqual(engine.queries.stepsOf(lease.id).pending, run("ask"));
  const inFlight = () => ["model", "own"].map((key) => engine.queries.gateStats(key, 2).inFlight);
  assert.deepEqual(inFlight(), [1, 1]);
  record(engine, granted, "ask", "answer", 3);
  assert.deepEqual(inFlight(), [0, 1]);
  assert.deepEqual(engine.queries.job(lease.id)!.gates, ["own"]);
  engine.ack(granted.id, granted.lease, 4);
  assert.deepEqual(inFlight(), [0, 0]);
});

test("a step's cost is taken from its gates, and the job has its own again afterwards", () => {
  const engine = openEngine();
  engine.setGate("tokens", { rate: 1, burst: 100 }, 0);
  const { lease } = begun({ cost: 2 }, engine);
  const gates = ["tokens"];
  engine.steps.suspend(lease.id, lease.lease, { ...run("ask"), until: 0, gates, cost: 60 }, 0);
  const granted = take(engine, 0)!;
  assert.equal(engine.queries.gateStats("tokens", 0).tokens, 40);
  engine.nack(granted.id, granted.lease, 0);
  const { cost, gates: own } = engine.queries.job(lease.id)!;
  assert.deepEqual([cost, own], [2, []]);
  const over = { ...run("ask"), until: 0, gates, cost: 101 };
  const third = take(engine, 60_000)!;
  refuses(() => engine.steps.suspend(third.id, third.lease, over, 60_000), "INVALID", /tokens/);
});

test("each dispatch of a continued job costs its lane again", () => {
  const engine = openEngine();
  const { lease } = begun({ fairnessKey: "a" }, engine);
  engine.steps.suspend(lease.id, lease.lease, { ...sleep(), until: 1 }, 0);
  take(engine, 1);
  const [lane] = engine.queries.lanes("q").lanes;
  assert.equal(lane!.received, 2);
});

test("failures of a step are counted apart, and forgotten with the attempt of the job", () => {
  const { engine, lease } = begun();
  const failed = { ...run("ask"), until: 50, failures: 1, error: "429" };
  engine.steps.suspend(lease.id, lease.lease, failed, 0);
  const why = engine.queries.why(lease.id, 0);
  assert.ok(why.state === "delayed" && why.cause === "step-failed");
  assert.deepEqual([why.step, why.until, why.error], ["ask", 50, "429"]);
  const again = take(engine, 50)!;
  assert.equal(engine.queries.stepsOf(lease.id).steps[0]!.failures, 1);
  engine.nack(again.id, again.lease, 51);
  assert.deepEqual(engine.queries.stepsOf(lease.id).steps, []);
});

test("another kind under the same name is an error that names both", () => {
  const { engine, lease } = begun();
  record(engine, lease, "ready", 1);
  const suspension = { ...wait("ready"), until: 5 };
  const call = () => engine.steps.suspend(lease.id, lease.lease, suspension, 0);
  refuses(call, "CONFLICT", /recorded as run and is now wait/);
});

test("at most 1,000 steps, and 16 MiB in all", () => {
  const { engine, lease } = begun();
  for (let i = 0; i < 1000; i++) record(engine, lease, `s${i}`, i);
  refuses(() => record(engine, lease, "one more", 1), "LIMIT_REACHED", /1000 steps/);
  const { engine: other, lease: held } = begun();
  const mib = 1024 * 1024;
  for (let i = 0; i < 16; i++) {
    other.steps.record(held.id, held.lease, { ...run(`s${i}`), sizeBytes: mib, body: 1 }, 0);
  }
  refuses(() => record(other, held, "one more", 1), "LIMIT_REACHED", /16777217 bytes/);
});

test("the results of a dead letter are there when it returns", () => {
  const { engine, lease } = begun();
  record(engine, lease, "charge", "paid");
  engine.nack(lease.id, lease.lease, 0, { unrecoverable: true });
  engine.retry(lease.id, 1);
  take(engine, 1);
  assert.equal(engine.queries.stepsOf(lease.id).steps[0]!.body, "paid");
});

test("results go with the end of the job: one that is retried by hand starts over", () => {
  const gone = { bodies: [] as unknown[], sizes: [] as number[] };
  const { engine, lease } = begun({}, openEngine({}, { gone }));
  record(engine, lease, "charge", "paid");
  engine.steps.signal(lease.id, { name: "s", sizeBytes: 7, body: "sent" }, 0);
  engine.ack(lease.id, lease.lease, 1);
  assert.deepEqual(gone, { bodies: ["paid", "sent"], sizes: [1, 7] });
  assert.equal(engine.queries.stepsOf(lease.id).steps[0]!.name, "charge");
  engine.retry(lease.id, 2);
  assert.deepEqual(engine.queries.stepsOf(lease.id).steps, []);
});

test("a suspended job expires at its deadline, can be cancelled, and hastened by a retry", () => {
  const engine = openEngine();
  const { lease } = begun({ ttlMs: 100 }, engine);
  engine.steps.suspend(lease.id, lease.lease, { ...sleep(), until: 1000 }, 0);
  engine.tick(100);
  assert.equal(engine.queries.job(lease.id)!.state, "expired");
  const other = begun({}, engine).lease;
  const until = Number.POSITIVE_INFINITY;
  engine.steps.suspend(other.id, other.lease, { ...wait("s"), until }, 100);
  engine.retry(other.id, 101);
  const again = take(engine, 101)!;
  assert.equal(again.id, other.id);
  engine.steps.suspend(again.id, again.lease, { ...wait("s", 1), until }, 102);
  assert.equal(engine.cancel(other.id, 103), true);
});

test("a job whose steps have begun keeps its payload when another is to replace it", () => {
  const { engine, lease } = begun({ dedupe: { key: "k", mode: "keepLast" }, body: 1 });
  engine.steps.suspend(lease.id, lease.lease, { ...sleep(), until: 10 }, 0);
  engine.add("q", { dedupe: { key: "k", mode: "keepLast" }, body: 2 }, 1);
  const again = take(engine, 10)!;
  assert.equal(again.body, 1);
  engine.ack(again.id, again.lease, 11);
  assert.equal(take(engine, 11)!.body, 2);
});

test("a charge leaves a debt that is paid off first; what was not used is given back", () => {
  const engine = openEngine();
  engine.setGate("tokens", { rate: 10, burst: 20 }, 0);
  engine.charge("tokens", 50, 0);
  assert.equal(engine.queries.gateStats("tokens", 0).tokens, -30);
  engine.add("q", { gates: ["tokens"] }, 0);
  assert.equal(take(engine, 3099), undefined);
  assert.ok(take(engine, 3100));
  engine.charge("tokens", -1000, 3100);
  assert.equal(engine.queries.gateStats("tokens", 3100).tokens, 20);
  engine.setGate("day", { windows: [{ limit: 10, perMs: DAY }] }, 0);
  engine.charge("day", 8, 3200);
  engine.charge("day", -5, 3200);
  assert.equal(engine.queries.gateStats("day", 3200).windows[0]!.used, 8);
});

test("steps, signals and what a job is suspended for survive a restart", () => {
  const { engine, facts } = openTelling();
  engine.setGate("model", { concurrency: 1 }, 0);
  const { lease } = begun({}, engine);
  record(engine, lease, "a", "one");
  engine.steps.signal(lease.id, { name: "early", sizeBytes: 1, body: "kept" }, 0);
  engine.steps.suspend(lease.id, lease.lease, { ...run("ask"), until: 0, gates: ["model"] }, 1);
  const again = rebuilt([...facts]);
  const granted = take(again, 2)!;
  assert.equal(granted.id, lease.id);
  assert.equal(again.queries.gateStats("model", 2).inFlight, 1);
  const { steps, signals, pending } = again.queries.stepsOf(lease.id);
  assert.deepEqual([steps[0]!.body, signals[0]!.body, pending!.name], ["one", "kept", "ask"]);
});

test("results that come before the record of their job find it in a replay", () => {
  const { engine, facts } = openTelling();
  const { lease } = begun({}, engine);
  const ended = begun({}, engine).lease;
  record(engine, lease, "a", "one");
  record(engine, ended, "b", "two");
  engine.steps.signal(lease.id, { name: "s", sizeBytes: 3, body: "three" }, 0);
  engine.ack(ended.id, ended.lease, 1);
  const told = facts.filter(({ fact }) => ["step", "signalled", "ended"].includes(fact));
  const gone = { bodies: [] as unknown[], sizes: [] as number[] };
  const opening = [...engine.checkpoint()].flat();
  const job = engine.queries.record(lease.id)!;
  const again = openEngine({}, { gone });
  rebuilt([...opening, ...told, { at: 1, fact: "moved", job }], again);
  const { steps, signals } = again.queries.stepsOf(lease.id);
  assert.deepEqual([steps[0]!.body, signals[0]!.body], ["one", "three"]);
  assert.deepEqual(gone.bodies, ["two"]);
});

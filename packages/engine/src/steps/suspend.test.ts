import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine, openTelling, rebuilt, type TestEngine } from "../testing/test-engine.ts";
import type { JobSpec, Lease } from "../types.ts";
import type { StepKind } from "./step-types.ts";

const step = (kind: StepKind, name: string) => ({ name, occurrence: 0, kind });

function begun(engine: TestEngine, spec: JobSpec = {}): Lease {
  engine.add("q", spec, 0);
  return engine.lease("q", 1, 0)[0]!;
}

test("a step that is done suspends nothing: the job runs on", () => {
  const engine = openEngine();
  const { id, lease } = begun(engine);
  const ask = step("run", "ask");
  engine.steps.record(id, lease, { ...ask, sizeBytes: 0, body: undefined }, 0);
  assert.equal(engine.steps.suspend(id, lease, { ...ask, until: 100 }, 1), false);
  assert.equal(engine.queries.job(id)?.state, "running");
});

test("a job whose deadline has passed expires instead of being suspended", () => {
  const engine = openEngine();
  const { id, lease } = begun(engine, { ttlMs: 10 });
  const nap = { ...step("sleep", ""), until: 100 };
  assert.equal(engine.steps.suspend(id, lease, nap, 10), true);
  assert.equal(engine.queries.job(id)?.state, "expired");
});

test("a job and its step name at most 16 gates", () => {
  const engine = openEngine();
  const gates = Array.from({ length: 16 }, (_, i) => `g${i}`);
  const { id, lease } = begun(engine, { gates: ["own"] });
  const call = () => engine.steps.suspend(id, lease, { ...step("run", "a"), until: 0, gates }, 0);
  assert.throws(call, { code: "INVALID", message: /at most 16 with those of the job/ });
  assert.equal(engine.queries.job(id)?.state, "running");
});

test("a retried step without gates is recorded, and the job waits for it no longer", () => {
  const engine = openEngine();
  const { id, lease } = begun(engine);
  const ask = step("run", "ask");
  engine.steps.suspend(id, lease, { ...ask, until: 50, failures: 1, error: "429" }, 0);
  const [again] = engine.lease("q", 1, 50);
  assert.deepEqual(engine.queries.stepsOf(id).pending, ask);
  engine.steps.record(id, again!.lease, { ...ask, sizeBytes: 1, body: "yes" }, 51);
  const { pending, steps } = engine.queries.stepsOf(id);
  assert.equal(pending, undefined);
  assert.deepEqual([steps[0]!.isDone, steps[0]!.body], [true, "yes"]);
});

test("a permit that a recorded step gives back goes to the next job in line", () => {
  const engine = openEngine();
  engine.setGate("model", { concurrency: 1 }, 0);
  engine.want("q", "w", 9, 0);
  engine.add("q", {}, 0);
  const [first] = engine.dispatch(0);
  const ask = step("run", "ask");
  engine.steps.suspend(first!.id, first!.lease, { ...ask, until: 0, gates: ["model"] }, 1);
  const [granted] = engine.dispatch(1);
  const next = engine.add("q", { gates: ["model"] }, 1).id;
  assert.deepEqual(engine.dispatch(1), []);
  engine.steps.record(granted!.id, granted!.lease, { ...ask, sizeBytes: 0, body: 1 }, 2);
  assert.equal(engine.dispatch(2)[0]?.id, next);
});

test("a job with results keeps its payload while it waits for its next attempt", () => {
  const engine = openEngine();
  const dedupe = { key: "k", mode: "keepLast" as const };
  const { id, lease } = begun(engine, { dedupe, body: 1 });
  engine.steps.record(id, lease, { ...step("run", "a"), sizeBytes: 0, body: 1 }, 0);
  engine.nack(id, lease, 0, { delayMs: 10 });
  engine.add("q", { dedupe, body: 2 }, 1);
  const [again] = engine.lease("q", 1, 10);
  assert.equal(again!.body, 1);
  engine.ack(id, again!.lease, 11);
  assert.equal(engine.lease("q", 1, 11)[0]!.body, 2);
});

test("why tells a sleep and a wait for a signal apart, and until when each lasts", () => {
  const engine = openEngine();
  const asleep = begun(engine);
  engine.steps.suspend(asleep.id, asleep.lease, { ...step("sleep", ""), until: 100 }, 0);
  const waiting = begun(engine);
  const until = Number.POSITIVE_INFINITY;
  engine.steps.suspend(waiting.id, waiting.lease, { ...step("wait", "approved"), until }, 0);
  const delayed = { state: "delayed", queue: "q" };
  assert.deepEqual(engine.queries.why(asleep.id, 0), {
    ...delayed,
    ...{ cause: "sleep", step: "", until: 100 },
  });
  assert.deepEqual(engine.queries.why(waiting.id, 0), {
    ...delayed,
    ...{ cause: "signal", step: "approved" },
  });
});

test("a charge at a gate survives a restart", () => {
  const { engine, facts } = openTelling();
  engine.setGate("tokens", { rate: 10, burst: 20 }, 0);
  engine.charge("tokens", 50, 0);
  assert.equal(rebuilt(facts).queries.gateStats("tokens", 0).tokens, -30);
});

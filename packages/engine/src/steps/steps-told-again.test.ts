import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact } from "../facts/facts.ts";
import { openEngine, openTelling, rebuilt, type TestEngine } from "../testing/test-engine.ts";
import type { Lease } from "../types.ts";

const ask = { name: "ask", occurrence: 0, kind: "run" as const };

/** A job that has a result and a signal. */
function begun(): { engine: TestEngine; facts: Fact[]; lease: Lease } {
  const { engine, facts } = openTelling();
  engine.add("q", {}, 0);
  const [lease] = engine.lease("q", 1, 0);
  engine.steps.record(lease!.id, lease!.lease, { ...ask, sizeBytes: 2, body: "result" }, 0);
  engine.steps.signal(lease!.id, { name: "ok", sizeBytes: 3, body: "value" }, 0);
  return { engine, facts, lease: lease! };
}

function goneOf(): { bodies: unknown[]; sizes: number[] } {
  return { bodies: [], sizes: [] };
}

function bodiesOf(engine: TestEngine, id: number): unknown[] {
  const { steps, signals } = engine.queries.stepsOf(id);
  return [...steps, ...signals].map(({ body }) => body);
}

test("results and signals that come after the record of their job take their place", () => {
  const { engine, lease } = begun();
  const gone = goneOf();
  const again = rebuilt(engine.snapshot(), openEngine({}, { gone }));
  assert.deepEqual(bodiesOf(again, lease.id), ["result", "value"]);
  assert.deepEqual(gone.bodies, []);
  assert.equal(again.queries.queueStats("q").steps, engine.queries.queueStats("q").steps);
});

test("a repeated result replaces the body, and one without a body leaves it", () => {
  const { engine, facts, lease } = begun();
  const gone = goneOf();
  const { id } = lease;
  const step = { at: 1, fact: "step" as const, id, ...ask, sizeBytes: 2 };
  const again = rebuilt([...facts, { ...step, body: "moved" }, step], openEngine({}, { gone }));
  assert.deepEqual(bodiesOf(again, id), ["moved", "value"]);
  assert.deepEqual(gone, { bodies: ["result"], sizes: [2] });
  assert.deepEqual(bodiesOf(engine, id), ["result", "value"]);
});

test("a body that is kept elsewhere is replaced only while it is the same one", () => {
  const { engine, facts, lease } = begun();
  const step = facts.find((fact) => fact.fact === "step")!;
  const signalled = facts.find((fact) => fact.fact === "signalled")!;
  assert.deepEqual([engine.steps.body(step), engine.steps.body(signalled)], ["result", "value"]);
  assert.equal(engine.steps.setBody(step, "result", "elsewhere"), true);
  assert.equal(engine.steps.setBody(step, "result", "late"), false);
  assert.deepEqual(bodiesOf(engine, lease.id), ["elsewhere", "value"]);
  const unknown = { ...signalled, id: 99 };
  assert.equal(engine.steps.setBody(unknown, "value", "late"), false);
  assert.equal(engine.steps.body(unknown), undefined);
});

test("results that no job claims are given up at the end of a replay", () => {
  const { facts } = begun();
  const parts = facts.filter(({ fact }) => fact === "step" || fact === "signalled");
  const gone = goneOf();
  rebuilt(parts, openEngine({}, { gone }));
  assert.deepEqual(gone, { bodies: ["result", "value"], sizes: [2, 3] });
});

test("if a result comes twice before its job, the later body counts", () => {
  const { engine, lease } = begun();
  const gone = goneOf();
  const { id } = lease;
  const step = { at: 0, fact: "step" as const, id, ...ask, sizeBytes: 2 };
  const told = [{ ...step, body: "first" }, { ...step, body: "second" }, step];
  const [opening, moved] = [
    [...engine.checkpoint()].flat(),
    { at: 0, fact: "moved" as const, job: engine.queries.record(id)! },
  ];
  const again = rebuilt([...opening, ...told, moved], openEngine({}, { gone }));
  assert.deepEqual(bodiesOf(again, id), ["second", undefined]);
  assert.deepEqual(gone.bodies, ["first"]);
});

test("the record of a suspended job keeps its step, the failure, its own gates and cost", () => {
  const { engine, lease } = begun();
  engine.setGate("model", { concurrency: 1 }, 0);
  const charge = { name: "charge", occurrence: 0, kind: "run" as const };
  const failed = { ...charge, until: 50, failures: 2, error: "429", gates: ["model"], cost: 7 };
  engine.steps.suspend(lease.id, lease.lease, failed, 0);
  const again = rebuilt(engine.snapshot());
  const { steps, pending } = again.queries.stepsOf(lease.id);
  assert.deepEqual(pending, charge);
  assert.deepEqual([steps[1]!.failures, steps[1]!.error], [2, "429"]);
  const [granted] = again.lease("q", 1, 50);
  const { gates, cost } = again.queries.job(lease.id)!;
  assert.deepEqual([gates, cost], [["model"], 7]);
  again.steps.record(granted!.id, granted!.lease, { ...charge, sizeBytes: 0, body: 1 }, 51);
  const own = again.queries.job(lease.id)!;
  assert.deepEqual([own.gates, own.cost], [[], 1]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact } from "../facts/facts.ts";
import { openEngine, rebuilt, type TestEngine } from "../testing/test-engine.ts";

function telling(): { engine: TestEngine; facts: Fact[] } {
  const facts: Fact[] = [];
  return { engine: openEngine({}, { facts }), facts };
}

/** Reverses the order of the jobs: dependents come before their dependencies. */
function backwards(engine: TestEngine): Fact[] {
  const facts = [...engine.snapshot()];
  const moved = facts.filter(({ fact }) => fact === "moved").reverse();
  const rest = facts.filter(({ fact }) => fact !== "moved");
  return [...rest, ...moved];
}

function run(engine: TestEngine): number[] {
  const ids: number[] = [];
  for (let leases = engine.lease("q", 9, 0); leases.length > 0; leases = engine.lease("q", 9, 0)) {
    for (const { id, lease } of leases) {
      ids.push(id);
      engine.ack(id, lease, 0);
    }
  }
  return ids;
}

test("restores settled and open edges, whichever job comes first", () => {
  const { engine } = telling();
  const done = engine.add("q", {}, 0).id;
  const dead = engine.add("q", {}, 0).id;
  const [one, other] = engine.lease("q", 2, 0);
  engine.ack(one!.id, one!.lease, 0, { n: 1 });
  engine.nack(other!.id, other!.lease, 0, { unrecoverable: true });
  const open = engine.add("q", {}, 0).id;
  const dependencies = [
    { id: done },
    { id: dead, on: "run" as const },
    { id: dead, on: "wait" as const },
    { id: open },
  ];
  const last = engine.add("q", { dependencies }, 0).id;
  for (const facts of [[...engine.snapshot()], backwards(engine)]) {
    const again = rebuilt(facts);
    assert.deepEqual(again.queries.record(last)?.after, engine.queries.record(last)?.after);
    again.tick(0);
    assert.deepEqual(run(again), [open]);
    again.retry(dead, 0);
    assert.deepEqual(run(again), [dead, last]);
  }
});

test("an end that comes before the record of its job reaches the jobs that wait for it", () => {
  const { engine, facts } = telling();
  const first = engine.add("q", {}, 0).id;
  const second = engine.add("q", { dependencies: [{ id: first }] }, 0).id;
  const before = [...engine.snapshot()].filter(
    (fact) => fact.fact !== "moved" || fact.job.id === second,
  );
  facts.length = 0;
  assert.deepEqual(run(engine).slice(0, 1), [first]);
  const again = rebuilt([...before, ...facts.filter((fact) => fact.fact !== "released")]);
  assert.equal(again.queries.job(second)?.state, "finished");
});

test("a job whose record never comes counts as cancelled", () => {
  const { engine } = telling();
  const first = engine.add("q", {}, 0).id;
  const second = engine.add("q", { dependencies: [{ id: first }] }, 0).id;
  const told = [...engine.snapshot()].filter(
    (fact) => fact.fact !== "moved" || fact.job.id !== first,
  );
  const again = rebuilt(told);
  again.tick(0);
  assert.equal(again.queries.job(second)?.state, "failed");
});

test("a flow that was being cancelled is cancelled after a restart", () => {
  const { engine, facts } = telling();
  const flow = engine.flows.open(0);
  const ids: number[] = [];
  engine.flows.add(flow, [{ queue: "q", spec: {} }], ids, 0);
  engine.flows.cancel(flow, 0);
  const again = rebuilt([...facts]);
  again.tick(0);
  assert.equal(again.queries.job(ids[0]!)?.state, "cancelled");
  assert.throws(() => again.flows.seal(flow, 0), { code: "CONFLICT" });
  assert.throws(() => again.flows.seal(99, 0), { code: "JOB_NOT_FOUND" });
});

test("a job that is put off by a full queue runs later", () => {
  const engine = openEngine({ capacity: { jobs: 1 }, fullRetryMs: 50 });
  const first = engine.add("q", {}, 0).id;
  const second = engine.add("q", { dependencies: [{ id: first }], runAt: 5 }, 0).id;
  const [lease] = engine.lease("q", 1, 10);
  engine.add("q", {}, 10);
  engine.ack(first, lease!.lease, 10);
  engine.tick(10);
  assert.equal(engine.queries.job(second)?.state, "delayed");
  assert.equal(engine.queries.job(second)?.at, 60);
});

test("refuses invalid links, adds and cursors", () => {
  const engine = openEngine({ onFull: "drop", capacity: { blocked: 1 } });
  const first = engine.add("q", {}, 0).id;
  const flow = engine.flows.open(0);
  const job = { queue: "q", spec: {} };
  const away = { queue: "q", spec: { dependencies: [{ id: -7 }] } };
  assert.throws(() => engine.flows.add(flow, [away], [], 0), { code: "INVALID" });
  assert.throws(() => engine.flows.link(flow, first, [], 0), { code: "CONFLICT" });
  assert.throws(() => engine.flows.add(flow, [job, job], [], 0), { code: "QUEUE_FULL" });
  assert.throws(() => engine.queries.dependencies(first, 10, 1), { code: "INVALID" });
  assert.deepEqual(engine.queries.dependencies(first, 10, 0), { items: [], cursor: 0 });
  assert.deepEqual(engine.queries.dependents(first, 10, 0), { items: [], cursor: 0 });
});

test("a job that has ended does not know what it waited for", () => {
  const { engine } = telling();
  const first = engine.add("q", {}, 0).id;
  const last = engine.add("q", { dependencies: [{ id: first }] }, 0).id;
  run(engine);
  engine.tick(0);
  assert.throws(() => engine.queries.dependencies(last, 10, 0), { code: "ALREADY_FINISHED" });
  const again = rebuilt(engine.snapshot());
  assert.throws(() => again.queries.dependencies(last, 10, 0), { code: "ALREADY_FINISHED" });
});

test("a flow that is not sealed is named by why, with when it is cancelled", () => {
  const { engine } = telling();
  const flow = engine.flows.open(0);
  const ids: number[] = [];
  engine.flows.add(flow, [{ queue: "q", spec: {} }], ids, 0);
  const why = { state: "blocked", queue: "q", open: 0, flow, until: 600_000 };
  assert.deepEqual(engine.queries.why(ids[0]!, 0), why);
  assert.equal(engine.queries.job(ids[0]!)?.waitsFor, 0);
});

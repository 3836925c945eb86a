import assert from "node:assert/strict";
import { test } from "node:test";
import { NODES_MAX } from "../jobs/job-table.ts";
import { each, openEngine, openTelling, rebuilt, type TestEngine } from "../testing/test-engine.ts";
import type { JobSpec } from "../types.ts";

const stateOf = (engine: TestEngine, id: number) => engine.queries.job(id)?.state;

/** A flow with one job for each specification. */
function open(engine: TestEngine, ...specs: JobSpec[]): { flow: number; ids: number[] } {
  const flow = engine.flows.open(0);
  const ids: number[] = [];
  const jobs = specs.map((spec) => ({ queue: "q", spec }));
  engine.flows.add(flow, jobs, ids, 0);
  return { flow, ids };
}

/** A job of the dead letter queue. */
function dead(engine: TestEngine): number {
  const { id } = engine.add("q", {}, 0);
  const [lease] = engine.lease("q", 1, 0);
  engine.nack(id, lease!.lease, 0, { error: "boom", unrecoverable: true });
  return id;
}

test("a flow without jobs can be sealed, and is over", () => {
  const engine = openEngine();
  const { flow } = open(engine);
  engine.flows.seal(flow, 0);
  assert.throws(() => engine.flows.seal(flow, 0), { code: "CONFLICT" });
  assert.equal(engine.nextWake(0), Number.POSITIVE_INFINITY);
});

test("a flow without jobs can be cancelled, and is over", () => {
  const engine = openEngine();
  const { flow } = open(engine);
  engine.flows.cancel(flow, 0);
  engine.tick(0);
  assert.throws(() => engine.flows.seal(flow, 0), { code: "CONFLICT" });
  assert.equal(engine.nextWake(0), Number.POSITIVE_INFINITY);
});

test("a flow stays open when the last of its jobs is cancelled", () => {
  const engine = openEngine();
  const { flow, ids } = open(engine, {});
  engine.cancel(ids[0]!, 0);
  engine.tick(0);
  engine.flows.add(flow, [{ queue: "q", spec: {} }], ids, 0);
  engine.flows.seal(flow, 0);
  assert.deepEqual(each(engine.lease("q", 9, 0), "id"), [ids[1]]);
});

test("a job that is alone in its flow is an ordinary job once the flow is sealed", () => {
  const engine = openEngine({ results: { jobs: 0 } });
  const { flow, ids } = open(engine, {});
  engine.flows.seal(flow, 0);
  const [lease] = engine.lease("q", 9, 0);
  engine.ack(ids[0]!, lease!.lease, 0);
  assert.equal(stateOf(engine, ids[0]!), undefined);
});

test("a job is in its flow no more from the moment that the flow is sealed", () => {
  const engine = openEngine();
  const { flow, ids } = open(engine, {});
  assert.equal(engine.queries.record(ids[0]!)?.flow, flow);
  engine.flows.seal(flow, 0);
  assert.equal(stateOf(engine, ids[0]!), "blocked");
  assert.equal(engine.queries.record(ids[0]!)?.flow, undefined);
});

test("a job of a flow may wait for a job outside of it, by its id", () => {
  const engine = openEngine();
  const { id } = engine.add("q", {}, 0);
  const { flow, ids } = open(engine, { dependencies: [{ id }] });
  engine.flows.seal(flow, 0);
  const [lease] = engine.lease("q", 9, 0);
  assert.equal(lease?.id, id);
  engine.ack(id, lease!.lease, 0);
  assert.deepEqual(each(engine.lease("q", 9, 0), "id"), ids);
});

test("a group whose jobs came with a flow has ended when they have", () => {
  const { engine, facts } = openTelling();
  const { flow } = open(engine, { group: "g" });
  engine.flows.cancel(flow, 0);
  engine.tick(0);
  assert.deepEqual(
    facts.filter(({ fact }) => fact === "group-ended"),
    [{ at: 0, fact: "group-ended", name: "g" }],
  );
});

test("a job of an open flow fails at once when it is linked to a dead one", () => {
  const engine = openEngine();
  const id = dead(engine);
  const { flow, ids } = open(engine, {});
  engine.flows.link(flow, ids[0]!, [{ id }], 0);
  engine.tick(0);
  assert.equal(stateOf(engine, ids[0]!), "failed");
  assert.match(engine.queries.job(ids[0]!)!.error!, /queue q that it waits for is dead: boom/);
});

test("cancelling a flow passes over a job whose queue is being deleted", () => {
  const engine = openEngine();
  engine.setQueue("r", {}, 0);
  const { flow, ids } = open(engine, {});
  engine.flows.add(flow, [{ queue: "r", spec: {} }], ids, 0);
  engine.deleteQueue("r", 0);
  engine.flows.cancel(flow, 0);
  for (let i = 0; i < 10; i++) engine.tick(0);
  assert.deepEqual(
    ids.map((id) => stateOf(engine, id)),
    ["cancelled", undefined],
  );
});

test("more open flows than there may be are refused, until one is sealed", () => {
  const engine = openEngine();
  const flows = Array.from({ length: 10_000 }, () => engine.flows.open(0));
  assert.throws(() => engine.flows.open(0), { code: "RATE_LIMITED" });
  engine.flows.seal(flows[0]!, 0);
  assert.ok(engine.flows.open(0) > flows.at(-1)!);
});

test("more jobs to wait for than fit into one list are refused", () => {
  const engine = openEngine();
  const { flow, ids } = open(engine, {});
  const after = new Array(NODES_MAX);
  assert.throws(() => engine.flows.link(flow, ids[0]!, after, 0), { code: "QUEUE_FULL" });
});

test("an open flow and its links come back from a checkpoint and from the facts", () => {
  const { engine, facts } = openTelling();
  const { flow, ids } = open(engine, {}, {});
  engine.flows.link(flow, ids[0]!, [{ id: ids[1]! }], 0);
  for (const told of [[...engine.snapshot()], [...facts]]) {
    const again = rebuilt(told);
    assert.equal(again.nextWake(0), 600_000);
    again.flows.seal(flow, 0);
    const [lease, none] = again.lease("q", 9, 0);
    assert.deepEqual([lease?.id, none], [ids[1], undefined]);
    again.ack(lease!.id, lease!.lease, 0);
    assert.deepEqual(each(again.lease("q", 9, 0), "id"), [ids[0]]);
  }
});

test("a flow that was sealed is sealed after a restart", () => {
  const { engine, facts } = openTelling();
  const { flow, ids } = open(engine, {});
  engine.flows.seal(flow, 0);
  const again = rebuilt([...facts]);
  assert.throws(() => again.flows.seal(flow, 0), { code: "CONFLICT" });
  assert.equal(stateOf(again, ids[0]!), "blocked");
  again.tick(0);
  assert.equal(stateOf(again, ids[0]!), "waiting");
});

test("a flow of which no fact is left is cancelled with its jobs", () => {
  const { engine } = openTelling();
  const { flow, ids } = open(engine, {});
  const again = rebuilt([...engine.snapshot()].filter(({ fact }) => fact !== "flow"));
  assert.throws(() => again.flows.seal(flow, 0), { code: "CONFLICT" });
  again.tick(0);
  assert.equal(stateOf(again, ids[0]!), "cancelled");
});

test("a link to a job whose record comes later holds until that job has ended", () => {
  const { engine, facts } = openTelling();
  const { id } = engine.add("q", {}, 0);
  const { flow, ids } = open(engine, {});
  engine.flows.link(flow, ids[0]!, [{ id }], 0);
  engine.flows.seal(flow, 0);
  const job = engine.queries.record(id)!;
  const rest = facts.filter((fact) => fact.fact !== "job" || fact.job.id !== id);
  const again = rebuilt([...rest, { at: 0, fact: "moved", job }]);
  const [lease, none] = again.lease("q", 9, 0);
  assert.deepEqual([lease?.id, none], [id, undefined]);
  again.ack(id, lease!.lease, 0);
  assert.deepEqual(each(again.lease("q", 9, 0), "id"), ids);
});

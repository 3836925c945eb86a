import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact } from "../facts/facts.ts";
import { openEngine, rebuilt, type TestEngine } from "../testing/test-engine.ts";
import type { JobSpec, OnDependencyFailure } from "../types.ts";

function stateOf(engine: TestEngine, id: number): string | undefined {
  return engine.queries.job(id)?.state;
}

/** Runs what can run now, as a worker that answers with the job's id. */
function work(engine: TestEngine, now = 0): number[] {
  const ids: number[] = [];
  for (let leases = engine.lease("q", 100, now); leases.length > 0; ) {
    for (const { id, lease } of leases) {
      ids.push(id);
      engine.ack(id, lease, now, { of: id });
    }
    leases = engine.lease("q", 100, now);
  }
  return ids;
}

function add(engine: TestEngine, after: readonly number[] = [], spec: JobSpec = {}): number {
  const on = after.map((id) => ({ id }));
  return engine.add("q", after.length === 0 ? spec : { ...spec, dependencies: on }, 0).id;
}

function fail(engine: TestEngine, id: number, now = 0): void {
  const lease = engine.lease("q", 100, now).find((one) => one.id === id)!;
  engine.nack(id, lease.lease, now, { error: "boom", unrecoverable: true });
  engine.tick(now);
}

test("a job runs when all that it waits for have finished, and reads their results", () => {
  const engine = openEngine();
  const first = add(engine);
  const second = add(engine);
  const last = add(engine, [first, second]);
  assert.equal(stateOf(engine, last), "blocked");
  const [a, b] = engine.lease("q", 10, 0);
  engine.ack(a!.id, a!.lease, 0, { n: 1 });
  assert.deepEqual(engine.lease("q", 10, 0), []);
  engine.ack(b!.id, b!.lease, 0, { n: 2 });
  const [lease] = engine.lease("q", 10, 0);
  assert.equal(lease?.id, last);
  const { items } = engine.queries.dependencies(last, 10, 0);
  assert.deepEqual(
    items.map(({ id, result }) => [id, result]),
    [
      [first, { n: 1 }],
      [second, { n: 2 }],
    ],
  );
});

test("a job whose dependencies have finished before it was added waits for none", () => {
  const engine = openEngine();
  const first = add(engine);
  work(engine);
  const last = add(engine, [first]);
  assert.equal(stateOf(engine, last), "waiting");
  assert.equal(engine.queries.dependencies(last, 10, 0).items[0]?.state, "finished");
});

test("jobs to wait for that are unknown or forgotten are refused", () => {
  const engine = openEngine({ results: { jobs: 0 } });
  assert.throws(() => add(engine, [7]), { code: "JOB_NOT_FOUND" });
  const gone = add(engine);
  work(engine);
  assert.throws(() => add(engine, [gone]), { code: "JOB_NOT_FOUND" });
  assert.equal(engine.queries.queueStats("q").added, 1);
});

const endings: Record<string, (engine: TestEngine, id: number) => void> = {
  cancelled: (engine, id) => void engine.cancel(id, 0),
  expired: (engine) => engine.tick(1000),
  dead: (engine, id) => fail(engine, id),
};

for (const [how, end] of Object.entries(endings)) {
  test(`a dependency that is ${how} fails those that wait for it, and theirs`, () => {
    const engine = openEngine();
    const first = add(engine, [], how === "expired" ? { ttlMs: 1000 } : {});
    const second = add(engine, [first]);
    const third = add(engine, [second]);
    end(engine, first);
    engine.tick(1000);
    assert.equal(stateOf(engine, second), "failed");
    assert.equal(stateOf(engine, third), "failed");
    assert.match(engine.queries.job(second)!.error!, new RegExp(how));
  });
}

function after(engine: TestEngine, id: number, on: OnDependencyFailure): number {
  return engine.add("q", { dependencies: [{ id, on }] }, 0).id;
}

test('a job with "run" runs when its dependency fails', () => {
  const engine = openEngine();
  const first = add(engine);
  const second = after(engine, first, "run");
  fail(engine, first);
  assert.deepEqual(work(engine), [second]);
});

test('a job with "wait" runs when the dead letter is retried and finishes', () => {
  const engine = openEngine();
  const first = add(engine);
  const second = after(engine, first, "wait");
  fail(engine, first);
  assert.equal(stateOf(engine, second), "blocked");
  engine.retry(first, 0);
  assert.deepEqual(work(engine), [first, second]);
});

test('a retried dependency does not revive a job that failed by "fail"', () => {
  const engine = openEngine();
  const first = add(engine);
  const second = add(engine, [first]);
  fail(engine, first);
  assert.equal(stateOf(engine, second), "failed");
  engine.retry(first, 0);
  assert.deepEqual(work(engine), [first]);
  assert.equal(stateOf(engine, second), "failed");
});

test("a finished job is kept until its last dependent has ended", () => {
  const engine = openEngine({ results: { jobs: 0, ms: 0 } });
  const first = add(engine);
  const blocker = engine.add("q", { delayMs: 5000 }, 0).id;
  const last = add(engine, [first, blocker]);
  assert.deepEqual(work(engine), [first]);
  engine.tick(4000);
  assert.equal(stateOf(engine, first), "finished");
  assert.deepEqual(work(engine, 5000), [blocker, last]);
  engine.tick(5000);
  assert.equal(stateOf(engine, first), undefined);
  assert.equal(engine.queries.memory().flows, engine.queries.memory().flows);
});

test("the delay of a job begins when it waits for no other", () => {
  const engine = openEngine();
  const first = add(engine);
  const last = add(engine, [first], { delayMs: 100 });
  engine.tick(500);
  const [lease] = engine.lease("q", 1, 500);
  engine.ack(lease!.id, lease!.lease, 500);
  engine.tick(500);
  assert.equal(stateOf(engine, last), "delayed");
  assert.deepEqual(work(engine, 600), [last]);
});

test("a blocked job expires, is cancelled and purged like any other", () => {
  const engine = openEngine();
  const first = engine.add("q", { delayMs: 10_000 }, 0).id;
  const expires = add(engine, [first], { ttlMs: 10 });
  const cancelled = add(engine, [first]);
  const purged = add(engine, [first]);
  engine.tick(10);
  engine.cancel(cancelled, 10);
  engine.purge("q", 10);
  engine.tick(10);
  assert.deepEqual(
    [expires, cancelled, purged].map((id) => stateOf(engine, id)),
    ["expired", "cancelled", "cancelled"],
  );
  assert.equal(engine.queries.queueStats("q").blocked, 0);
});

test("blocked jobs are bounded", () => {
  const engine = openEngine({ capacity: { blocked: 1 } });
  const first = add(engine);
  add(engine, [first]);
  assert.throws(() => add(engine, [first]), { code: "QUEUE_FULL" });
});

test("the queue of a dependency that is deleted counts as cancelled", () => {
  const engine = openEngine();
  engine.setQueue("r", {}, 0);
  const { id } = engine.add("r", {}, 0);
  const last = add(engine, [id]);
  engine.deleteQueue("r", 0);
  for (let i = 0; i < 10; i++) engine.tick(0);
  assert.equal(stateOf(engine, last), "failed");
});

test("why names the job that is waited for", () => {
  const engine = openEngine();
  const first = add(engine);
  const second = engine.add("q", { delayMs: 1000 }, 0).id;
  const last = add(engine, [first, second]);
  assert.deepEqual(work(engine), [first]);
  assert.deepEqual(engine.queries.why(last, 0), {
    state: "blocked",
    queue: "q",
    open: 1,
    for: { id: second, queue: "q", state: "delayed" },
  });
});

test("no job of a flow is eligible before it is sealed", () => {
  const engine = openEngine();
  const flow = engine.flows.open(0);
  const ids: number[] = [];
  engine.flows.add(flow, [{ queue: "q", spec: {} }], ids, 0);
  engine.flows.add(flow, [{ queue: "q", spec: { dependencies: [{ id: 0 }] } }], ids, 0);
  assert.deepEqual(work(engine), []);
  engine.flows.seal(flow, 0);
  assert.deepEqual(work(engine), ids);
  assert.throws(() => engine.flows.seal(flow, 0), { code: "CONFLICT" });
});

test("a flow that is not sealed is cancelled after ten minutes", () => {
  const engine = openEngine();
  const flow = engine.flows.open(0);
  const ids: number[] = [];
  engine.flows.add(flow, [{ queue: "q", spec: {} }], ids, 0);
  assert.equal(engine.nextWake(0), 600_000);
  engine.tick(599_999);
  assert.equal(stateOf(engine, ids[0]!), "blocked");
  engine.tick(600_000);
  assert.equal(stateOf(engine, ids[0]!), "cancelled");
});

test("a flow that was open at a restart can be filled and sealed", () => {
  const facts: Fact[] = [];
  const engine = openEngine({}, { facts });
  const flow = engine.flows.open(0);
  const ids: number[] = [];
  engine.flows.add(flow, [{ queue: "q", spec: {} }], ids, 0);
  const again = rebuilt(facts);
  again.flows.add(flow, [{ queue: "q", spec: { dependencies: [{ id: 0 }] } }], ids, 0);
  again.flows.seal(flow, 0);
  assert.deepEqual(work(again), ids);
});

test("dependencies are read page by page", () => {
  const engine = openEngine();
  const ids = Array.from({ length: 25 }, () => add(engine));
  const last = add(engine, ids);
  const read: number[] = [];
  for (let cursor = 0; ; ) {
    const page = engine.queries.dependencies(last, 10, cursor);
    read.push(...page.items.map(({ id }) => id));
    ({ cursor } = page);
    if (cursor === 0) break;
  }
  assert.deepEqual(read, ids);
  assert.deepEqual(
    engine.queries.dependents(ids[3]!, 10, 0).items.map(({ id }) => id),
    [last],
  );
});

test("a fan-in and a fan-out of 20,000 take bounded steps", () => {
  const engine = openEngine({ capacity: { jobs: 100_000 }, results: { jobs: 100_000 } });
  const flow = engine.flows.open(0);
  const ids: number[] = [];
  const job = { queue: "q", spec: { dependencies: [{ id: 0 }] } };
  engine.flows.add(flow, [{ queue: "q", spec: {} }], ids, 0);
  for (let i = 0; i < 20; i++) engine.flows.add(flow, new Array(1000).fill(job), ids, 0);
  const middle = ids.slice(1);
  engine.flows.add(flow, [{ queue: "q", spec: {} }], ids, 0);
  for (let i = 0; i < 20; i++) {
    const part = middle.slice(i * 1000, (i + 1) * 1000).map((id) => ({ id }));
    engine.flows.link(flow, ids.at(-1)!, part, 0);
  }
  engine.flows.seal(flow, 0);
  let most = 0;
  const order: number[] = [];
  engine.want("q", "w", 1000, 0);
  while (engine.nextWake(0) <= 0) {
    const before = engine.queries.steps;
    const leases = engine.dispatch(0, 500);
    most = Math.max(most, engine.queries.steps - before);
    for (const { id, lease } of leases) engine.ack(id, lease, 0);
    order.push(...leases.map(({ id }) => id));
    engine.want("q", "w", 1000, 0);
  }
  assert.deepEqual(order, ids);
  assert.ok(most <= 5000, `${most} steps in one call`);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine, openTelling, rebuilt, type TestEngine } from "../testing/test-engine.ts";
import type { JobSpec } from "../types.ts";

// Jobs that others wait for, or that wait for others, as the verbs of all jobs meet them.

function after(engine: TestEngine, id: number, spec: JobSpec = {}, queue = "q"): number {
  return engine.add(queue, { ...spec, dependencies: [{ id }] }, 0).id;
}

function finish(engine: TestEngine, now = 0): number {
  const [lease] = engine.lease("q", 1, now);
  engine.ack(lease!.id, lease!.lease, now);
  return lease!.id;
}

test("a job that runs or waits cannot be retried, and the error says which it does", () => {
  const engine = openEngine();
  const first = engine.add("q", {}, 0).id;
  const blocked = after(engine, first);
  assert.throws(() => engine.retry(first, 0), { code: "CONFLICT", message: /is waiting: / });
  assert.throws(() => engine.retry(blocked, 0), {
    code: "CONFLICT",
    message: /is waiting for other jobs/,
  });
  engine.lease("q", 1, 0);
  assert.throws(() => engine.retry(first, 0), { code: "CONFLICT", message: /is running/ });
});

test("a debounced job that waits for another begins its new delay when it no longer does", () => {
  const { engine, facts } = openTelling();
  const first = engine.add("q", {}, 0).id;
  const dedupe = { key: "k", mode: "debounce" as const };
  const last = after(engine, first, { dedupe, delayMs: 10, body: "old" });
  const again = { dedupe, delayMs: 30, body: "new", dependencies: [{ id: first }] };
  assert.equal(engine.add("q", again, 5).id, last);
  assert.equal(engine.queries.job(last)?.state, "blocked");
  finish(engine, 100);
  engine.tick(100);
  for (const each of [rebuilt([...facts]), engine]) {
    assert.deepEqual(each.lease("q", 1, 129), []);
    const [lease] = each.lease("q", 1, 130);
    assert.deepEqual([lease?.id, each.body(last)], [last, "new"]);
  }
});

test("a job that has ended and is needed by another can be retried", () => {
  const engine = openEngine();
  const first = engine.add("q", {}, 0).id;
  const other = engine.add("q", { delayMs: 1000 }, 0).id;
  const dependencies = [{ id: first }, { id: other }];
  const last = engine.add("q", { dependencies }, 0).id;
  assert.equal(finish(engine), first);
  engine.setQueue("q", { results: { jobs: 0 } }, 1);
  assert.equal(engine.queries.job(first)?.state, "finished", "it is kept for the other");
  engine.retry(first, 2);
  assert.equal(finish(engine, 3), first);
  assert.equal(finish(engine, 1000), other);
  assert.equal(finish(engine, 1001), last);
});

test("a needed job is not forgotten with those that a lowered limit forgets", () => {
  const engine = openEngine();
  const needed = engine.add("q", {}, 0).id;
  const other = engine.add("q", { delayMs: 1000 }, 0).id;
  engine.add("q", { dependencies: [{ id: needed }, { id: other }] }, 0);
  assert.equal(finish(engine), needed);
  const kept = [1, 2].map(() => engine.add("q", {}, 0).id);
  for (const id of kept) assert.equal(finish(engine), id);
  engine.setQueue("q", { results: { jobs: 1 } }, 1);
  assert.throws(() => engine.retry(kept[0]!, 1), { code: "CONFLICT", message: /is removing/ });
  engine.retry(needed, 1);
  assert.equal(finish(engine, 1), needed);
});

test("a queue that is deleted takes along the ended jobs that others need", () => {
  const engine = openEngine();
  engine.setQueue("other", {}, 0);
  const first = engine.add("q", {}, 0).id;
  const second = engine.add("q", { delayMs: 1000 }, 0).id;
  const dependencies = [{ id: first }, { id: second, on: "run" as const }];
  const last = engine.add("other", { dependencies }, 0).id;
  assert.equal(finish(engine), first);
  engine.deleteQueue("q", 1);
  while (engine.nextWake(1) <= 1) engine.tick(1);
  assert.equal(engine.queries.job(first), undefined);
  assert.equal(engine.lease("other", 1, 2)[0]?.id, last);
  const { items } = engine.queries.dependencies(last, 10, 0);
  assert.deepEqual(
    items.map(({ queue, state }) => [queue, state]),
    [
      [undefined, "finished"],
      [undefined, "cancelled"],
    ],
  );
});

test("the jobs that wait for one are listed in pages, and a foreign cursor is refused", () => {
  const engine = openEngine();
  const first = engine.add("q", {}, 0).id;
  const waiting = [1, 2, 3].map(() => after(engine, first));
  const lone = engine.add("q", {}, 0).id;
  const page = engine.queries.dependents(first, 2, 0);
  const rest = engine.queries.dependents(first, 2, page.cursor);
  const ids = [...page.items, ...rest.items].map(({ id }) => id);
  assert.deepEqual(ids.sort(), waiting);
  assert.equal(rest.cursor, 0);
  assert.deepEqual(engine.queries.dependents(lone, 2, 0).items, []);
  assert.throws(() => engine.queries.dependents(lone, 2, page.cursor), { code: "INVALID" });
});

test("the list of dependencies tells the error of one that failed", () => {
  const engine = openEngine({ dlq: false });
  const first = engine.add("q", {}, 0).id;
  const last = engine.add("q", { dependencies: [{ id: first, on: "run" }] }, 0).id;
  const [lease] = engine.lease("q", 1, 0);
  engine.nack(first, lease!.lease, 0, { unrecoverable: true, error: "boom" });
  engine.tick(0);
  assert.equal(engine.lease("q", 1, 0)[0]?.id, last);
  assert.equal(engine.queries.dependencies(last, 1, 0).items[0]?.error, "boom");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { each, openEngine, openTelling, TestEngine } from "../testing/test-engine.ts";
import type { DedupeMode, JobSpec, Lease } from "../types.ts";
import { Dedupes } from "./dedupe.ts";

function spec(mode: DedupeMode, body: string, more: JobSpec = {}): JobSpec {
  const windowMs = mode === "window" ? { windowMs: 100 } : {};
  const delay = mode === "debounce" ? { delayMs: 100 } : {};
  return { dedupe: { key: "k", mode, ...windowMs }, body, ...delay, ...more };
}

function takeOne(engine: TestEngine, now = 0): Lease {
  return engine.lease("q", 1, now)[0]!;
}

test("a key is held in its own queue only, by one job at a time", () => {
  const dedupes = new Dedupes(0);
  const row = dedupes.hold(1, "k", 10, Number.POSITIVE_INFINITY);
  assert.equal(dedupes.find(2, "k", 0), undefined);
  assert.equal(dedupes.find(1, "x", 0), undefined);
  assert.equal(dedupes.find(1, "k", 0)?.id, 10);
  const next = dedupes.hold(1, "k", 11, Number.POSITIVE_INFINITY);
  dedupes.jobEnded(row, 10, "finished");
  assert.equal(dedupes.find(1, "k", 0)?.id, 11, "the end of the former holder frees nothing");
  assert.equal(dedupes.keyOf(dedupes.get(next)!), "k");
  dedupes.jobEnded(next, 11, "finished");
  assert.equal(dedupes.find(1, "k", 0), undefined);
  assert.deepEqual([...dedupes.all()], []);
});

test("windows are over at their time, the earliest first, their jobs finished or not", () => {
  const dedupes = new Dedupes(0);
  const a = dedupes.hold(1, "a", 1, 50);
  dedupes.hold(1, "b", 2, 20);
  dedupes.jobEnded(a, 1, "finished");
  assert.equal(dedupes.find(1, "a", 49)?.id, 1);
  assert.equal(dedupes.find(1, "a", 50), undefined);
  assert.equal(dedupes.windows.peekTime(), 20);
  dedupes.expire();
  assert.equal(dedupes.windows.peekTime(), 50);
  dedupes.hold(1, "a", 3, 70);
  assert.equal(dedupes.windows.peekTime(), 70, "a key taken again has a window of its own");
});

test("pending: while a job waits or is leased an add changes nothing and answers its id", () => {
  const engine = openEngine();
  assert.deepEqual(engine.add("q", spec("pending", "a", { priority: 1 }), 0), { id: 1, tier: 1 });
  const duplicate = { id: 1, duplicate: true, tier: 1 };
  assert.deepEqual(engine.add("q", spec("pending", "b"), 0), duplicate);
  const lease = takeOne(engine);
  assert.equal(lease.body, "a");
  assert.deepEqual(engine.add("q", spec("pending", "c"), 0), duplicate);
  assert.equal(engine.queries.queueStats("q").added, 1);
  assert.equal(engine.queries.job(1)?.dedupe, "k");
  engine.ack(1, lease.lease, 1);
  assert.equal(engine.queries.job(1)?.dedupe, undefined);
  assert.deepEqual(engine.add("q", spec("pending", "d"), 1), { id: 2, tier: 3 });
});

test("keys of two queues, and of a queue deleted and made again, have nothing in common", () => {
  const engine = openEngine();
  engine.setQueue("r", {}, 0);
  engine.add("q", spec("pending", "a"), 0);
  assert.equal(engine.add("r", spec("pending", "b"), 0).duplicate, undefined);
  engine.deleteQueue("q", 0);
  engine.setQueue("q", {}, 0);
  assert.equal(engine.add("q", spec("pending", "c"), 0).duplicate, undefined);
});

test("a retried job keeps its key", () => {
  const engine = openEngine();
  engine.add("q", spec("pending", "a"), 0);
  engine.nack(1, takeOne(engine).lease, 0);
  assert.equal(engine.queries.job(1)?.state, "delayed");
  assert.equal(engine.add("q", spec("pending", "b"), 0).duplicate, true);
});

test("window: the key is taken for the window after the first add, finished or not", () => {
  const engine = openEngine({ results: { jobs: 0 } });
  engine.add("q", spec("window", "a"), 0);
  engine.ack(1, takeOne(engine).lease, 0);
  assert.deepEqual(engine.add("q", spec("window", "b"), 99), { id: 1, duplicate: true, tier: 0 });
  engine.dispatch(99);
  assert.equal(engine.nextWake(99), 100);
  assert.equal(engine.add("q", spec("window", "c"), 100).id, 2, "even before the tick");
  engine.tick(100);
  assert.equal(engine.nextWake(100), 200);
  engine.tick(200);
  assert.equal(engine.queries.job(2)?.dedupe, undefined, "the job still waits, its window is over");
});

test("window: a job that ends in any way but finished frees the key at once", () => {
  const enders: Record<string, (engine: TestEngine) => void> = {
    cancelled: (engine) => engine.cancel(1, 1),
    failed: (engine) => engine.nack(1, takeOne(engine).lease, 1, { unrecoverable: true }),
    expired: (engine) => engine.tick(50),
  };
  for (const [ending, end] of Object.entries(enders)) {
    const engine = openEngine({ dlq: false });
    engine.add("q", spec("window", "a", { ttlMs: 50 }), 0);
    end(engine);
    assert.equal(engine.queries.job(1)?.state, ending);
    assert.equal(engine.add("q", spec("window", "b"), 50).id, 2, ending);
  }
  const engine = openEngine();
  engine.add("q", spec("window", "a"), 0);
  engine.nack(1, takeOne(engine).lease, 1, { unrecoverable: true });
  assert.equal(engine.queries.job(1)?.queue, "q.dlq");
  assert.equal(engine.add("q", spec("window", "b"), 1).id, 2, "dead");
});

test("window: a job rebuilt from a snapshot frees its key like any other", () => {
  const engine = openEngine();
  engine.add("q", spec("window", "a"), 0);
  engine.add("q", { dedupe: { key: "other", mode: "window", windowMs: 70 } }, 0);
  const again = new TestEngine();
  for (const fact of engine.snapshot()) again.apply(fact);
  assert.equal(again.nextWake(1), 70, "the windows are what they were");
  again.cancel(1, 1);
  assert.equal(again.add("q", spec("window", "b"), 1).id, 3);
});

test("a job whose window is over does not show a key that another job holds now", () => {
  const engine = openEngine();
  engine.add("q", spec("window", "a"), 0);
  engine.tick(100);
  engine.add("q", { dedupe: { key: "other", mode: "pending" } }, 100);
  assert.equal(engine.queries.job(1)?.dedupe, undefined);
  assert.equal(engine.queries.job(2)?.dedupe, "other");
});

test("debounce: each add replaces the payload and restarts the delay", () => {
  const engine = openEngine();
  engine.add("q", spec("debounce", "a", { sizeBytes: 5 }), 0);
  const again = engine.add("q", spec("debounce", "b", { sizeBytes: 7 }), 60);
  assert.deepEqual(again, { id: 1, duplicate: true, tier: 3 });
  engine.tick(100);
  assert.equal(engine.queries.job(1)?.at, 160);
  engine.tick(160);
  assert.equal(engine.queries.queueStats("q").bytes, 7);
  engine.add("q", spec("debounce", "c", { sizeBytes: 9 }), 170);
  assert.equal(engine.queries.job(1)?.state, "delayed", "one that was due waits again");
  assert.equal(engine.queries.queueStats("q").bytes, 0);
  const lease = takeOne(engine, 270);
  assert.equal(lease.body, "c");
  const next = engine.add("q", spec("debounce", "d"), 280);
  assert.equal(next.id, 2, "a leased job is not changed: another one takes the key");
  engine.ack(1, lease.lease, 281);
  assert.equal(engine.add("q", spec("debounce", "e"), 290).id, 2, "and keeps it");
});

test("replace: a waiting job takes the new payload and keeps its place", () => {
  const engine = openEngine();
  engine.add("q", spec("replace", "a", { sizeBytes: 10 }), 0);
  engine.add("q", { body: "other" }, 0);
  assert.deepEqual(engine.add("q", spec("replace", "b", { sizeBytes: 4 }), 0), {
    id: 1,
    duplicate: true,
    tier: 3,
  });
  assert.equal(engine.queries.queueStats("q").bytes, 4);
  assert.deepEqual(each(engine.lease("q", 2, 0), "body"), ["b", "other"]);
  assert.equal(engine.add("q", spec("replace", "c"), 0).id, 3, "a leased one is left alone");
});

test("keepLast: one follow-up with the latest payload runs after the leased job", () => {
  const engine = openEngine();
  engine.add("q", spec("keepLast", "a"), 0);
  engine.add("q", spec("keepLast", "b"), 0);
  const lease = takeOne(engine);
  assert.equal(lease.body, "b", "while it waits, the payload is replaced");
  for (const body of ["c", "d"]) {
    assert.equal(engine.add("q", spec("keepLast", body), 0).duplicate, true);
  }
  assert.deepEqual(engine.lease("q", 9, 0), [], "nothing runs beside it");
  engine.ack(1, lease.lease, 0);
  const follow = engine.lease("q", 9, 0);
  assert.deepEqual(
    follow.map(({ id, body }) => [id, body]),
    [[2, "d"]],
  );
  engine.ack(2, follow[0]!.lease, 0);
  assert.deepEqual(engine.lease("q", 9, 0), [], "exactly one");
});

test("keepLast: a retried job keeps its payload, the follow-up the latest one", () => {
  const engine = openEngine();
  engine.add("q", spec("keepLast", "a"), 0);
  const first = takeOne(engine);
  engine.add("q", spec("keepLast", "b"), 0);
  engine.nack(1, first.lease, 0, { delayMs: 10 });
  engine.add("q", spec("keepLast", "c"), 5);
  const second = takeOne(engine, 10);
  assert.equal(second.body, "a");
  engine.ack(1, second.lease, 10);
  assert.equal(takeOne(engine, 10).body, "c");
});

test("keepLast: the follow-up runs after a job that ends in any other way too", () => {
  const ends: Record<string, (engine: TestEngine, lease: Lease) => void> = {
    cancelled: (engine, { id }) => void engine.cancel(id, 0),
    failed: (engine, { id, lease }) => engine.nack(id, lease, 0, { unrecoverable: true }),
    expired: (engine, { id, lease }) => engine.nack(id, lease, 60),
  };
  for (const [ending, end] of Object.entries(ends)) {
    const engine = openEngine({ dlq: false });
    engine.add("q", spec("keepLast", "a", { ttlMs: 50 }), 0);
    const lease = takeOne(engine);
    engine.add("q", spec("keepLast", "b"), 0);
    end(engine, lease);
    assert.equal(engine.queries.job(1)?.state, ending);
    assert.equal(takeOne(engine, 60)?.body, "b", ending);
  }
});

test("keepLast: the follow-up of a dead-lettered job runs", () => {
  const engine = openEngine({ retry: { attempts: 1 } });
  engine.add("q", spec("keepLast", "a"), 0);
  const lease = takeOne(engine);
  engine.add("q", spec("keepLast", "b"), 0);
  engine.nack(1, lease.lease, 0);
  assert.equal(engine.queries.job(1)?.queue, "q.dlq");
  assert.equal(takeOne(engine)?.body, "b");
});

test("keepLast: a follow-up was answered long ago, so a full queue does not refuse it", () => {
  for (const delay of [{}, { delayMs: 10 }, { runAt: 10 }]) {
    const engine = openEngine({ capacity: { jobs: 1, delayed: 1 } });
    engine.add("q", spec("keepLast", "a"), 0);
    const lease = takeOne(engine);
    engine.add("q", spec("keepLast", "b", delay), 0);
    engine.addAll("q", [{}, { delayMs: 1000 }], 0);
    engine.ack(1, lease.lease, 0);
    const { waiting, delayed, dropped } = engine.queries.queueStats("q");
    assert.deepEqual([waiting + delayed, dropped], [3, 0]);
    assert.equal(
      engine.queries.job(4)?.state,
      "delayMs" in delay || "runAt" in delay ? "delayed" : "waiting",
    );
  }
});

test("the key is free again however the job ends, and when it is dead-lettered", () => {
  const leased = { unrecoverable: true };
  const ends: Record<string, (engine: TestEngine) => void> = {
    "cancelled while waiting": (engine) => void engine.cancel(1, 0),
    "cancelled by its key": (engine) => void engine.cancelByKey("q", "k", 0),
    "cancelled while leased": (engine) => void engine.cancel(takeOne(engine).id, 0),
    finished: (engine) => engine.ack(1, takeOne(engine).lease, 0),
    "dead-lettered": (engine) => engine.nack(1, takeOne(engine).lease, 0, leased),
    failed: (engine) => {
      engine.setQueue("q", { dlq: false }, 0);
      engine.nack(1, takeOne(engine).lease, 0, leased);
    },
    expired: (engine) => engine.tick(1000),
    "too long a wait": (engine) => engine.cooldown("g", 10_000, "", 0),
    purged: (engine) => {
      engine.purge("q", 0);
      engine.tick(0);
    },
  };
  for (const [end, make] of Object.entries(ends)) {
    const engine = openEngine();
    engine.add("q", spec("pending", "a", { ttlMs: 1000, gates: ["g"], maxWaitMs: 5000 }), 0);
    make(engine);
    const next = engine.add("q", spec("pending", "b", { gates: [] }), 1000);
    assert.deepEqual(next, { id: 2, tier: 3 }, end);
  }
});

test("an add after a purge makes a job of its own", () => {
  const engine = openEngine();
  engine.add("q", spec("pending", "a"), 0);
  engine.purge("q", 0);
  const { id } = engine.add("q", spec("pending", "b"), 0);
  engine.tick(0);
  assert.equal(engine.queries.job(id)?.state, "waiting", "an add that was answered is not lost");
});

test("a job is cancelled by its key only while it holds the key", () => {
  const engine = openEngine();
  assert.equal(engine.cancelByKey("q", "k", 0), false);
  engine.add("q", spec("window", "a"), 0);
  assert.equal(engine.cancelByKey("q", "k", 0), true);
  assert.equal(engine.queries.job(1)?.state, "cancelled");
  assert.equal(engine.cancelByKey("q", "k", 0), false, "it has ended");
});

test("a window that outlives its job answers its own mode only", () => {
  const engine = openEngine({ results: { jobs: 0 } });
  engine.add("q", spec("window", "a"), 0);
  engine.ack(1, takeOne(engine).lease, 0);
  assert.equal(engine.add("q", spec("window", "b"), 1).duplicate, true);
  for (const mode of ["replace", "keepLast"] as const) {
    assert.equal(engine.add("q", spec(mode, mode), 1).duplicate, mode === "keepLast" || undefined);
  }
  assert.equal(takeOne(engine, 1).body, "keepLast", "the first of them took the key over");
});

test("keepLast: an error that is no refusal is not taken for a full queue", () => {
  const { engine, facts } = openTelling();
  engine.add("q", spec("keepLast", "a"), 0);
  const { lease } = takeOne(engine);
  engine.add("q", spec("keepLast", "b"), 0);
  facts.push = () => {
    throw new TypeError("broken");
  };
  assert.throws(() => engine.ack(1, lease, 0), TypeError);
});

test("a key that a job holds which a large purge has yet to reach is free", () => {
  const engine = openEngine();
  for (let i = 0; i < 20_000; i++) engine.add("q", {}, 0);
  engine.add("q", spec("pending", "a", { delayMs: 1000 }), 0);
  engine.purge("q", 0);
  assert.ok(engine.queries.queueStats("q").waiting > 0, "the purge is under way");
  const { id } = engine.add("q", spec("pending", "b"), 0);
  assert.equal(engine.queries.job(20_001)?.state, "cancelled");
  assert.equal(engine.queries.job(id)?.state, "waiting");
});

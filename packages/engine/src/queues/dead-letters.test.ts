import assert from "node:assert/strict";
import { test } from "node:test";
import { Refusal } from "../errors.ts";
import type { Fact } from "../facts/facts.ts";
import { open, takeOne } from "../properties/one-queue.ts";
import { each, type QueueChange, rebuilt, type TestEngine } from "../testing/test-engine.ts";
import type { JobSpec, NackOptions } from "../types.ts";

const NOW = { minMs: 0, maxMs: 0, jitter: 0 };

/** Adds jobs that die at once: they are letters of `q.dlq` then, numbered from 1. */
function letters(
  count: number,
  options: QueueChange = {},
  spec: JobSpec = {},
  nack: NackOptions = { error: "no" },
): { engine: TestEngine; facts: Fact[] } {
  const opened = open({ retry: { attempts: 1 }, ...options });
  opened.engine.setQueue("q.dlq", { retry: { ...NOW, attempts: 2 } }, 0);
  for (let i = 0; i < count; i++) {
    const { id } = opened.engine.add("q", spec, 0);
    opened.engine.nack(id, takeOne(opened.engine).lease, 0, nack);
  }
  return opened;
}

function codeOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    return error.code;
  }
  return "no refusal";
}

test("a letter begins with no attempt used, and keeps what it died of", () => {
  const { engine, facts } = letters(1, {}, {}, { error: "no", stack: "at a\nat b" });
  const { attempt, error, stack, dead } = engine.queries.job(1)!;
  assert.deepEqual([attempt, error, stack], [0, "no", "at a\nat b"]);
  assert.deepEqual(dead, { origin: "q", reason: "attempts used up", attempts: 1, at: 0 });
  assert.deepEqual(rebuilt(facts).queries.job(1), engine.queries.job(1));
});

test("a reader that fails does not replace the error that the letter died of", () => {
  const { engine, facts } = letters(1, {}, {}, { error: "no", stack: "at a" });
  engine.want("q.dlq", "reader", 1, 0);
  const { lease } = engine.dispatch(0)[0]!;
  engine.nack(1, lease, 0, { error: "the reader's own", stack: "at b" });
  const { error, stack } = engine.queries.job(1)!;
  assert.deepEqual([error, stack], ["no", "at a"]);
  assert.equal(
    engine.queries.history(1)?.at(-1)?.detail,
    "the reader's own",
    "history tells of it",
  );
  assert.deepEqual(rebuilt(facts).queries.job(1), engine.queries.job(1));
});

const FAILURES: Readonly<Record<string, (engine: TestEngine, lease: number) => void>> = {
  "a nack": (engine, lease) => engine.nack(1, lease, 0, { error: "again" }),
  "a nack that asks for no retry": (engine, lease) =>
    engine.nack(1, lease, 0, { error: "again", unrecoverable: true }),
  "a lease that runs out": (engine) => engine.tick(30_000),
  "a give back": (engine, lease) => engine.giveBack(1, lease, 0),
  "a RetryAfter": (engine, lease) => engine.nack(1, lease, 0, { cooldown: { gate: "g", ms: 0 } }),
};

for (const [name, failOnce] of Object.entries(FAILURES)) {
  test(`a letter survives ${name}, however often, and can be redriven`, () => {
    const { engine, facts } = letters(1);
    for (let i = 0; i < 10; i++) {
      const now = i * 30_000;
      const [lease] = engine.lease("q.dlq", 1, now);
      if (name === "a lease that runs out") engine.tick(now + 30_000);
      else failOnce(engine, lease!.lease);
      assert.equal(engine.queries.job(1)?.state, "dead", `after ${i + 1} failures`);
    }
    assert.equal(rebuilt(facts).queries.job(1)?.queue, "q.dlq");
    assert.equal(engine.redrive("q.dlq", {}, 300_000), 1);
    const { queue, attempt, deliveries, dead } = engine.queries.job(1)!;
    assert.deepEqual([queue, attempt, deliveries, dead], ["q", 0, 0, undefined]);
  });
}

test("a letter that fails waits for the backoff of its queue, not for its own", () => {
  const { engine } = letters(1, {}, { backoff: { minMs: 7, maxMs: 7 } });
  engine.setQueue("q.dlq", { retry: { minMs: 100, maxMs: 400, jitter: 0 } }, 0);
  for (const [now, until] of [
    [0, 100],
    [100, 300],
    [300, 700],
    [700, 1100],
  ] as const) {
    engine.nack(1, takeOne(engine, now, "q.dlq").lease, now);
    assert.equal(engine.queries.job(1)?.at, until);
  }
});

test("more failures of a letter than an attempt can count do not wrap around", () => {
  const { engine } = letters(1);
  for (let i = 0; i < 65_600; i++) {
    engine.nack(1, takeOne(engine, 0, "q.dlq").lease, 0);
  }
  assert.equal(engine.queries.job(1)?.attempt, 0xffff);
});

test("a letter that fails goes back to its place", () => {
  for (const [delayMs, now] of [
    [0, 0],
    [50, 50],
  ] as const) {
    const { engine, facts } = letters(4);
    const [first, second] = engine.lease("q.dlq", 2, 0);
    engine.nack(second!.id, second!.lease, 0, { delayMs });
    engine.nack(first!.id, first!.lease, 0, { delayMs });
    engine.tick(now);
    const order = (one: TestEngine): number[] => one.lease("q.dlq", 4, now).map(({ id }) => id);
    const other = rebuilt(facts);
    assert.deepEqual(order(engine), [1, 2, 3, 4]);
    assert.deepEqual(order(other), [1, 2, 3, 4], "after a replay");
  }
});

test("a letter that was leased when its queue was purged is still there afterwards", () => {
  for (const delayMs of [0, 5]) {
    const { engine } = letters(2);
    const lease = takeOne(engine, 0, "q.dlq");
    engine.purge("q.dlq", 0);
    engine.nack(lease.id, lease.lease, 0, { delayMs });
    engine.tick(10);
    engine.tick(10);
    assert.deepEqual(
      [engine.queries.job(1)?.state, engine.queries.job(2)?.state],
      ["dead", "cancelled"],
    );
  }
});

test("a job added to a dead letter queue follows the policy of that queue", () => {
  const { engine } = letters(0);
  engine.add("q.dlq", {}, 0);
  for (let i = 0; i < 2; i++) engine.nack(1, takeOne(engine, 0, "q.dlq").lease, 0);
  assert.equal(engine.queries.job(1)?.state, "failed");
});

test("redrive keeps the order in which letters died, also of those that were looked at", () => {
  const { engine } = letters(4);
  const [first, second] = engine.lease("q.dlq", 2, 0);
  engine.nack(first!.id, first!.lease, 0);
  assert.equal(engine.redrive("q.dlq", { count: 2 }, 0), 2);
  assert.deepEqual(
    [1, 2, 3, 4].map((id) => engine.queries.job(id)?.queue),
    ["q", "q.dlq", "q", "q.dlq"],
    "one that is leased is passed over",
  );
  engine.giveBack(second!.id, second!.lease, 0);
  assert.equal(engine.redrive("q.dlq", { count: 1 }, 0), 1);
  assert.equal(engine.queries.job(2)?.queue, "q");
});

test("redrive by ids moves those that are letters there, and counts them", () => {
  const { engine } = letters(5);
  engine.add("q.dlq", {}, 0);
  const leased = takeOne(engine, 0, "q.dlq");
  engine.cancel(2, 0);
  assert.equal(engine.redrive("q.dlq", { ids: [leased.id, 2, 4, 4, 6, 99] }, 0), 1);
  assert.equal(engine.queries.job(4)?.queue, "q");
  assert.equal(engine.redrive("q.dlq", { ids: [] }, 0), 0);
  engine.deleteQueue("q", 0);
  assert.equal(engine.redrive("q.dlq", { ids: [3] }, 0), 0, "its queue does not exist");
});

test("retry returns one letter to its origin, with nothing used up", () => {
  const { engine, facts } = letters(3, {}, { priority: 1, gates: ["g"], cost: 2 });
  engine.nack(1, takeOne(engine, 0, "q.dlq").lease, 0, { delayMs: 1000 });
  engine.retry(1, 0);
  engine.retry(3, 0);
  for (const one of [engine, rebuilt(facts)]) {
    const { queue, state, tier, gates, cost, attempt, deliveries, dead } = one.queries.job(1)!;
    assert.deepEqual(
      [queue, state, tier, gates, cost, attempt, deliveries, dead],
      ["q", "waiting", 1, ["g"], 2, 0, 0, undefined],
    );
    assert.deepEqual([one.queries.job(2)?.queue, one.queries.job(3)?.queue], ["q.dlq", "q"]);
  }
});

test("retry of a letter that has ended and is kept returns it to its origin too", () => {
  const { engine, facts } = letters(1);
  engine.ack(1, takeOne(engine, 0, "q.dlq").lease, 0);
  engine.retry(1, 0);
  for (const one of [engine, rebuilt(facts)]) {
    const { queue, state } = one.queries.job(1)!;
    assert.deepEqual([queue, state], ["q", "waiting"]);
    assert.equal(one.queries.queueStats("q.dlq").kept, 0);
  }
});

test("refuses to retry a letter that is leased, or whose queue is gone", () => {
  const { engine } = letters(2);
  const { id } = takeOne(engine, 0, "q.dlq");
  assert.equal(
    codeOf(() => engine.retry(id, 0)),
    "CONFLICT",
  );
  engine.deleteQueue("q", 0);
  assert.equal(
    codeOf(() => engine.retry(2, 0)),
    "QUEUE_NOT_FOUND",
  );
  engine.setQueue("q", {}, 0);
  engine.retry(2, 0);
  assert.equal(engine.queries.job(2)?.queue, "q");
});

test("an old lease of a letter is refused after it has run in its queue again", () => {
  const { engine } = letters(1);
  const old = takeOne(engine, 0, "q.dlq");
  engine.nack(1, old.lease, 0);
  engine.retry(1, 0);
  const lease = takeOne(engine);
  assert.ok(lease.lease > old.lease);
  assert.equal(
    codeOf(() => engine.ack(1, old.lease, 0)),
    "LEASE_LOST",
  );
});

test("the retention of a dead letter queue ends letters as expired, and nothing else", () => {
  const { engine, facts } = letters(2, { dlq: "graves" });
  engine.setQueue("graves", { retentionMs: 100, retry: NOW }, 0);
  engine.add("graves", {}, 0);
  engine.tick(0);
  assert.deepEqual(
    [engine.queries.job(1)?.deadline, engine.queries.job(3)?.deadline],
    [100, undefined],
  );
  const lease = engine.lease("graves", 1, 99)[0]!;
  engine.tick(100);
  assert.equal(engine.queries.job(2)?.state, "expired");
  engine.nack(lease.id, lease.lease, 100);
  assert.equal(engine.queries.job(1)?.state, "expired", "a letter that fails too late");
  assert.equal(engine.queries.job(3)?.state, "waiting");
  assert.equal(rebuilt(facts).queries.job(1)?.state, "expired");
});

test("a changed retention counts from the death of the letters that are there", () => {
  const { engine, facts } = letters(1);
  const deadlines = [50, null, 70].map((retentionMs) => {
    engine.setQueue("q.dlq", { retentionMs }, 30);
    engine.tick(30);
    return engine.queries.job(1)?.deadline;
  });
  assert.deepEqual(deadlines, [50, undefined, 70]);
  assert.equal(rebuilt(facts).queries.job(1)?.deadline, 70);
  engine.retry(1, 30);
  assert.equal(engine.queries.job(1)?.deadline, undefined, "in its queue it has none");
});

test("a restart from a snapshot keeps letters as they are", () => {
  const { engine } = letters(3, {}, {}, { error: "no", stack: "at a" });
  engine.setQueue("q.dlq", { retentionMs: 1000 }, 0);
  engine.tick(0);
  engine.nack(1, takeOne(engine, 5, "q.dlq").lease, 5, { delayMs: 10 });
  takeOne(engine, 5, "q.dlq");
  engine.progress(2, { done: 1 }, 5);
  const other = rebuilt([...engine.snapshot()]);
  for (const id of [1, 2, 3]) assert.deepEqual(other.queries.job(id), engine.queries.job(id));
  assert.equal(other.redrive("q.dlq", {}, 5), 2, "all but the one that is leased");
});

test("leases that are given back after a restart go to the places that they had", () => {
  const { engine } = letters(4);
  const leases = engine.lease("q.dlq", 3, 0);
  const other = rebuilt([...engine.snapshot()]);
  const [first, second, third] = leases;
  other.giveBack(third!.id, third!.lease, 0);
  other.nack(first!.id, first!.lease, 0, { delayMs: 0 });
  other.nack(second!.id, second!.lease, 0, { delayMs: 5 });
  other.tick(5);
  assert.deepEqual(each(other.lease("q.dlq", 4, 5), "id"), [1, 2, 3, 4]);
});

test("a letter of an old log has its death from its history", () => {
  const { engine, facts } = letters(1);
  const { diedAt, ...extra } = engine.queries.record(1)!.extra!;
  assert.equal(diedAt, 0);
  const job = { ...engine.queries.record(1)!, extra };
  const queues = facts.filter(({ fact }) => fact === "queue");
  const other = rebuilt([...queues, { at: 9, fact: "job", job }]);
  assert.deepEqual(other.queries.job(1)?.dead, engine.queries.job(1)?.dead);
});

test("a dlq that leads back to its queue is refused, and the way is named", () => {
  const { engine } = open({ dlq: "b" });
  engine.setQueue("b", { dlq: "c" }, 0);
  for (const [queue, dlq, path] of [
    ["b", "q", "b → q → b"],
    ["c", "q", "c → q → b → c"],
    ["x.dlq", "x", "x.dlq → x → x.dlq"],
  ] as const) {
    assert.throws(
      () => engine.setQueue(queue, { dlq }, 0),
      (error) =>
        error instanceof Refusal &&
        error.code === "INVALID" &&
        error.details.field === "queue.dlq" &&
        error.message.includes(path),
    );
  }
  engine.setQueue("c", { dlq: "d" }, 0);
  assert.equal(engine.queueConfig("c").dlq, "d");
});

test("a queue that is made for letters closes no circle, whatever its name", () => {
  const { engine } = open({ dlq: false });
  engine.setQueue("q.dlq", { dlq: "q", retry: { attempts: 1 } }, 0);
  engine.deleteQueue("q", 0);
  engine.add("q.dlq", {}, 0);
  engine.nack(1, takeOne(engine, 0, "q.dlq").lease, 0);
  assert.deepEqual([engine.queries.job(1)?.queue, engine.queueConfig("q").dlq], ["q", false]);
  const long = "x".repeat(255);
  engine.setQueue("p", { dlq: long, retry: { attempts: 1 } }, 0);
  engine.add("p", {}, 0);
  engine.nack(2, takeOne(engine, 0, "p").lease, 0);
  assert.equal(engine.queries.job(2)?.queue, long);
});

test("deleting a queue tells how many letters stay, and how many went with it", () => {
  const { engine } = letters(3, { dlq: "graves" });
  engine.setQueue("p", { dlq: "graves", retry: { attempts: 1 } }, 0);
  engine.add("p", {}, 0);
  engine.nack(4, takeOne(engine, 0, "p").lease, 0);
  assert.deepEqual(engine.deleteQueue("q", 0), { kept: 3, deleted: 0 });
  assert.deepEqual(engine.deleteQueue("graves", 0), { kept: 0, deleted: 4 });
});

test("deletes the letters of one queue, also those that are leased", () => {
  const { engine, facts } = letters(251, { dlq: "graves" });
  takeOne(engine, 0, "graves");
  engine.setQueue("p", { dlq: "graves", retry: { attempts: 1 } }, 0);
  const { id } = engine.add("p", {}, 0);
  engine.nack(id, takeOne(engine, 0, "p").lease, 0);
  assert.deepEqual(
    [1, 2, 3].map(() => engine.byHand.deleteLetters("q", 0)),
    [250, 1, 0],
  );
  assert.equal(engine.queries.queueStats("graves").cancelled, 251);
  assert.equal(engine.queries.job(id)?.queue, "graves");
  assert.equal(rebuilt(facts).queries.queueStats("graves").waiting, 1);
});

test("a changed retention leaves letters that have ended as they were", () => {
  const { engine } = letters(2);
  engine.cancel(1, 10);
  engine.setQueue("q.dlq", { retentionMs: 50 }, 30);
  engine.tick(30);
  assert.equal(engine.queries.job(1)?.deadline, undefined);
  assert.equal(engine.queries.job(2)?.deadline, 50);
});

test("a letter goes back to the one lane of a queue that has no fairness by now", () => {
  const { engine } = letters(1, {}, { fairnessKey: "acme" });
  assert.equal(engine.queries.job(1)?.fairnessKey, "acme");
  engine.setQueue("q", { fairness: false }, 1);
  engine.retry(1, 2);
  const { queue, fairnessKey } = engine.queries.job(1)!;
  assert.deepEqual([queue, fairnessKey], ["q", ""]);
});

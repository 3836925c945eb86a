import assert from "node:assert/strict";
import { test } from "node:test";
import { open, takeOne } from "../properties/one-queue.ts";
import type { TestEngine } from "../testing/test-engine.ts";
import { each } from "../testing/test-engine.ts";
import type { JobSpec, NackOptions } from "../types.ts";

/** Adds a job, takes it and fails it at once. */
function failed(
  engine: TestEngine,
  options: NackOptions = {},
  spec: JobSpec = {},
  now = 0,
): number {
  const { id } = engine.add("q", spec, now);
  engine.nack(id, takeOne(engine, now).lease, now, options);
  return id;
}

test("a failed job is retried after its backoff, one attempt on, and its error is kept", () => {
  const { engine, facts } = open({ retry: { jitter: 0 } });
  failed(engine, { error: "no route" }, { body: "b" });
  const { state, at, attempt, error } = engine.queries.job(1)!;
  assert.deepEqual([state, at, attempt, error], ["delayed", 1000, 1, "no route"]);
  assert.deepEqual(facts.at(-1), {
    at: 0,
    fact: "retried",
    id: 1,
    queue: "q",
    attempt: 1,
    until: 1000,
    event: "failed",
    blame: [],
    error: "no route",
  });
  const lease = takeOne(engine, 1000);
  assert.deepEqual([lease.lease, lease.attempt, lease.body], [2, 1, "b"]);
  engine.nack(1, lease.lease, 1000);
  assert.equal(engine.queries.job(1)?.at, 3000);
  assert.equal(
    engine.queries.job(1)?.error,
    "no route",
    "a failure without a word keeps the last one",
  );
  assert.equal(engine.queries.queueStats("q").retried, 2);
});

test("a nack may name its own delay; without one the job goes to the back of its strand", () => {
  const { engine } = open();
  failed(engine, { delayMs: 7 });
  assert.equal(engine.queries.job(1)?.at, 7);
  engine.add("q", {}, 7);
  engine.add("q", {}, 7);
  const first = takeOne(engine, 7);
  engine.nack(first.id, first.lease, 7, { delayMs: 0 });
  const order = engine.lease("q", 3, 7).map(({ id }) => id);
  assert.equal(order.at(-1), first.id);
});

test("attempts are deliveries: the last failure is final", () => {
  const { engine } = open({ retry: { minMs: 0, maxMs: 0 }, dlq: false });
  engine.add("q", { attempts: 3 }, 0);
  for (let attempt = 0; attempt < 3; attempt++) {
    const lease = takeOne(engine);
    assert.equal(lease.attempt, attempt);
    engine.nack(1, lease.lease, 0, { error: `error ${attempt}` });
  }
  const { state, error } = engine.queries.job(1)!;
  assert.deepEqual([state, error], ["failed", "error 2"]);
  assert.equal(engine.queries.queueStats("q").failed, 1);
  assert.deepEqual(engine.queries.queueNames(), ["q"], "without a dead letter queue none is made");
});

test("a final failure without a word of its own says why it was final", () => {
  const { engine } = open({ retry: { attempts: 1 }, dlq: false });
  failed(engine);
  assert.equal(engine.queries.job(1)?.error, "attempts used up");
  failed(engine, { unrecoverable: true }, { attempts: 9 });
  assert.equal(engine.queries.job(2)?.error, "unrecoverable");
});

test("a dead job moves, with its id, to the dead letter queue that is made for it", () => {
  const { engine, facts } = open({ retry: { attempts: 2, minMs: 0, maxMs: 0 } });
  const spec = { fairnessKey: "acme", priority: 1, gates: ["g"], cost: 3, ttlMs: 500, body: "b" };
  failed(engine, { error: "first" }, spec);
  assert.deepEqual(engine.queries.queueNames(), ["q"]);
  engine.nack(1, takeOne(engine, 5).lease, 5, { error: "second" });
  const { queue, state, tier, fairnessKey, gates, attempt, attempts, error, dead, body, ...rest } =
    engine.queries.job(1)!;
  assert.deepEqual(
    { queue, state, tier, fairnessKey, gates, attempt, attempts, error, dead, body },
    {
      queue: "q.dlq",
      state: "dead",
      tier: 0,
      fairnessKey: "acme",
      gates: [],
      attempt: 0,
      attempts: 2,
      error: "second",
      dead: { origin: "q", reason: "attempts used up", attempts: 2, at: 5 },
      body: "b",
    },
  );
  assert.equal(rest.deadline, undefined, "a dead job does not expire");
  assert.equal(engine.queries.queueStats("q").dead, 1);
  const told = facts.slice(-2).map((fact) => fact.fact);
  assert.deepEqual(told, ["queue", "dead"]);
  engine.tick(1000);
  assert.equal(takeOne(engine, 1000, "q.dlq").id, 1, "and can be taken there");
});

test("a dead letter queue may have any name, and any policy when it was there before", () => {
  const { engine } = open({ retry: { attempts: 1 }, dlq: "graves" });
  engine.setQueue("graves", { fairness: false, tiers: 1 }, 0);
  failed(engine, {}, { fairnessKey: ["a", "b"] });
  assert.deepEqual(
    [engine.queries.job(1)?.queue, engine.queries.job(1)?.fairnessKey],
    ["graves", ""],
  );
  assert.deepEqual(engine.queries.queueNames(), ["q", "graves"]);
});

test("an unrecoverable failure is final at once", () => {
  const { engine, facts } = open();
  failed(engine, { unrecoverable: true, error: "gone" });
  assert.equal(engine.queries.job(1)?.queue, "q.dlq");
  const dead = facts.at(-1)!;
  assert.equal(dead.fact === "dead" && dead.reason, "unrecoverable");
});

test("redrive puts dead jobs back with attempt 0 and everything they had", () => {
  const { engine } = open({ retry: { attempts: 1 } });
  const spec = {
    fairnessKey: ["acme", "u"],
    weight: 3,
    priority: 1,
    gates: ["b", "a"],
    cost: 2,
    maxWaitMs: 100,
    backoff: { minMs: 5 },
  };
  failed(engine, { error: "bad" }, spec);
  assert.equal(engine.redrive("q.dlq", {}, 10), 1);
  const { queue, tier, fairnessKey, weight, gates, cost, attempt, dead, error } =
    engine.queries.job(1)!;
  assert.deepEqual(
    [queue, tier, fairnessKey, weight, cost, attempt, dead, error],
    ["q", 1, ["acme", "u"], 3, 2, 0, undefined, "bad"],
  );
  assert.deepEqual(gates.toSorted(), ["a", "b"]);
  engine.cooldown("a", 1000, "", 10);
  assert.equal(engine.queries.job(1)?.waited?.gate, "a", "its patience came back too");
});

test("redrive moves as many as the call asks for, oldest first", () => {
  const { engine } = open({ retry: { attempts: 1 } });
  for (let i = 0; i < 5; i++) failed(engine);
  assert.equal(engine.redrive("q.dlq", { count: 2 }, 0), 2);
  assert.equal(engine.redrive("q.dlq", { count: 0 }, 0), 0);
  assert.deepEqual(each(engine.lease("q", 9, 0), "id"), [1, 2]);
  engine.cancel(4, 0);
  assert.equal(engine.redrive("q.dlq", {}, 0), 2, "all that are left");
  assert.equal(engine.redrive("q.dlq", {}, 0), 0);
});

test("redrive of many is spread over calls", () => {
  const { engine } = open({ retry: { attempts: 1 } });
  for (let i = 0; i < 600; i++) failed(engine);
  assert.deepEqual(
    [1, 2, 3, 4].map(() => engine.redrive("q.dlq", {}, 0)),
    [250, 250, 100, 0],
  );
});

test("redrive finds the dead behind any number that cannot go back now", () => {
  const { engine } = open({ retry: { attempts: 1 }, dlq: "graves" });
  engine.setQueue("gone", { dlq: "graves", retry: { attempts: 1 } }, 0);
  for (let i = 0; i < 3000; i++) engine.add("gone", {}, 0);
  for (let i = 0; i < 3000; i++) {
    const { id, lease } = takeOne(engine, 0, "gone");
    engine.nack(id, lease, 0);
  }
  engine.deleteQueue("gone", 0);
  for (let i = 0; i < 3000; i++) failed(engine);
  for (let i = 0; i < 5900; i++) takeOne(engine, 0, "graves");
  assert.equal(engine.redrive("graves", {}, 0), 100);
  assert.equal(engine.redrive("graves", {}, 0), 0);
});

test("a dead job that ended, was purged or was redriven is not looked at again", () => {
  const { engine } = open({ retry: { attempts: 1 } });
  for (let i = 0; i < 5; i++) failed(engine);
  engine.cancel(2, 0);
  engine.ack(1, takeOne(engine, 0, "q.dlq").lease, 0);
  assert.equal(engine.redrive("q.dlq", { count: 1 }, 0), 1);
  assert.equal(engine.queries.job(3)?.queue, "q");
  engine.purge("q.dlq", 0);
  assert.equal(
    engine.redrive("q.dlq", {}, 0),
    0,
    "purged, although the purge has yet to get there",
  );
  assert.equal(engine.queries.job(4)?.state, "cancelled");
  engine.retry(5, 0);
  assert.equal(engine.queries.job(5)?.queue, "q", "a retry by hand brings a purged one back");
});

test("redrive into a queue with fewer tiers or no fairness gives the nearest place", () => {
  const { engine } = open({ retry: { attempts: 1 } });
  failed(engine, {}, { fairnessKey: "a", priority: 3 });
  engine.deleteQueue("q", 0);
  engine.setQueue("q", { tiers: 2, fairness: false }, 0);
  assert.equal(engine.redrive("q.dlq", {}, 0), 1);
  assert.deepEqual([engine.queries.job(1)?.tier, engine.queries.job(1)?.fairnessKey], [1, ""]);
});

test("a dead job that was leased during a redrive is moved by a later one", () => {
  const { engine } = open({ retry: { attempts: 1 } });
  failed(engine);
  failed(engine);
  const looked = takeOne(engine, 0, "q.dlq");
  assert.equal(engine.redrive("q.dlq", {}, 0), 1, "someone looks at the other one");
  engine.giveBack(looked.id, looked.lease, 0);
  assert.equal(engine.redrive("q.dlq", {}, 0), 1);
});

test("a dead job whose queue was gone during a redrive is moved by a later one", () => {
  const { engine } = open({ retry: { attempts: 1 } });
  failed(engine);
  engine.deleteQueue("q", 0);
  assert.equal(engine.redrive("q.dlq", {}, 0), 0, "where to?");
  engine.setQueue("q", {}, 0);
  assert.equal(engine.redrive("q.dlq", {}, 0), 1);
});

test("a job of its own in a dead letter queue is not redriven", () => {
  const { engine } = open({ dlq: "graves" });
  engine.setQueue("graves", {}, 0);
  engine.add("graves", {}, 0);
  assert.equal(engine.redrive("graves", {}, 0), 0);
  assert.equal(engine.queries.job(1)?.queue, "graves");
});

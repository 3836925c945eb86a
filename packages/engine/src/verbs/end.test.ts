import assert from "node:assert/strict";
import { test } from "node:test";
import { open, takeOne } from "../properties/one-queue.ts";
import type { TestEngine } from "../testing/test-engine.ts";
import type { Lease } from "../types.ts";

test("an acknowledged job is finished, with its result, and stays so", () => {
  const { engine, facts } = open();
  engine.add("q", { body: "b" }, 0);
  const { lease } = takeOne(engine, 5);
  engine.ack(1, lease, 9, { sum: 3 });
  const { state, at, result } = engine.queries.job(1)!;
  assert.deepEqual({ state, at, result }, { state: "finished", at: 9, result: { sum: 3 } });
  const ended = { at: 9, fact: "ended", id: 1, queue: "q", ending: "finished", blame: [] };
  assert.deepEqual(facts.at(-1), { ...ended, result: { sum: 3 } });
  assert.throws(() => engine.ack(1, lease, 10), { code: "ALREADY_FINISHED" });
  assert.equal(engine.cancel(1, 10), false);
  assert.equal(engine.queries.queueStats("q").finished, 1);
});

test("a lease that has run out but was not ticked yet can still be acknowledged", () => {
  const { engine } = open({ leaseMs: 10 });
  engine.add("q", {}, 0);
  const { lease } = takeOne(engine);
  engine.ack(1, lease, 50);
  assert.equal(engine.queries.job(1)?.state, "finished");
});

test("a job is cancelled wherever it is", () => {
  const { engine, facts } = open();
  engine.setGate("shut", { rate: 0 }, 0);
  engine.add("q", {}, 0);
  engine.add("q", { delayMs: 50 }, 0);
  engine.add("q", { gates: ["shut"] }, 0);
  engine.add("q", {}, 0);
  const { id } = takeOne(engine);
  assert.equal(id, 1);
  for (const job of [1, 2, 3, 4]) assert.equal(engine.cancel(job, 1), true);
  for (const job of [1, 2, 3, 4]) assert.equal(engine.queries.job(job)?.state, "cancelled");
  const { waiting, delayed, running, cancelled } = engine.queries.queueStats("q");
  assert.deepEqual([waiting, delayed, running, cancelled], [0, 0, 0, 4]);
  assert.equal(facts.filter((fact) => fact.fact === "ended").length, 4);
  assert.throws(() => engine.ack(1, 1, 2), { code: "ALREADY_FINISHED" });
  engine.want("q", "w", 9, 60);
  assert.deepEqual(engine.dispatch(60), []);
});

test("at most so many ended jobs are kept, the oldest are forgotten first", () => {
  const { engine } = open({ results: { jobs: 2 } });
  for (let i = 0; i < 4; i++) engine.add("q", {}, 0);
  for (const { id, lease } of engine.lease("q", 4, 0)) engine.ack(id, lease, id);
  assert.deepEqual(
    [1, 2, 3, 4].map((id) => engine.queries.job(id)?.state),
    [undefined, undefined, "finished", "finished"],
  );
  assert.equal(engine.queries.queueStats("q").kept, 2);
});

test("ended jobs are kept for a time, each from its own end", () => {
  const { engine } = open({ results: { ms: 100 } });
  for (let i = 0; i < 3; i++) engine.add("q", {}, 0);
  for (const { id, lease } of engine.lease("q", 3, 0)) engine.ack(id, lease, id * 10);
  engine.dispatch(30);
  assert.equal(engine.nextWake(30), 110);
  engine.tick(119);
  assert.deepEqual(
    [1, 2, 3].map((id) => engine.queries.job(id)?.state),
    [undefined, "finished", "finished"],
  );
  assert.equal(engine.nextWake(119), 120);
  engine.tick(130);
  assert.equal(engine.queries.queueStats("q").kept, 0);
  assert.equal(engine.nextWake(130), Number.POSITIVE_INFINITY);
});

test("with results of no jobs or no time nothing is kept", () => {
  for (const results of [{ jobs: 0 }, { ms: 0 }]) {
    const { engine } = open({ results });
    engine.add("q", {}, 0);
    engine.ack(1, takeOne(engine).lease, 0);
    assert.equal(engine.queries.job(1), undefined);
    assert.equal(engine.queries.queueStats("q").kept, 0);
  }
});

test("a shorter time of keeping counts at once, for those kept already too", () => {
  const { engine } = open({ results: { ms: 100_000 } });
  engine.add("q", {}, 0);
  engine.ack(1, takeOne(engine).lease, 0);
  engine.setQueue("q", { results: { ms: 50 } }, 10);
  engine.tick(50);
  assert.equal(engine.queries.job(1), undefined);
});

test("an ended job that is still kept runs again with all its attempts and no deadline", () => {
  const { engine, facts } = open({ retry: { attempts: 1 }, dlq: false });
  engine.add("q", { ttlMs: 1000, body: "b" }, 0);
  engine.add("q", {}, 0);
  for (const { id, lease } of engine.lease("q", 2, 0)) engine.nack(id, lease, 0, { error: "bad" });
  assert.equal(engine.queries.job(1)?.state, "failed");
  engine.retry(1, 2000);
  engine.retry(2, 2000);
  assert.deepEqual(facts.at(-1), { at: 2000, fact: "revived", id: 2 });
  const { state, attempt, deadline } = engine.queries.job(1)!;
  assert.deepEqual([state, attempt, deadline], ["waiting", 0, undefined]);
  const lease = takeOne(engine, 2000);
  assert.deepEqual([lease.id, lease.lease, lease.body], [1, 2, "b"]);
  assert.equal(engine.queries.queueStats("q").kept, 0);
});

test("one of several kept jobs runs again, the others are forgotten in their time", () => {
  const { engine } = open({ results: { ms: 100 } });
  for (let i = 0; i < 3; i++) engine.add("q", {}, 0);
  for (const { id, lease } of engine.lease("q", 3, 0)) engine.ack(id, lease, id);
  engine.retry(2, 50);
  engine.tick(101);
  engine.tick(103);
  assert.deepEqual(
    [1, 2, 3].map((id) => engine.queries.job(id)?.state),
    [undefined, "waiting", undefined],
  );
});

test("a delayed job is run at once", () => {
  const { engine } = open();
  engine.add("q", { delayMs: 1000, deadline: 5000 }, 0);
  engine.retry(1, 10);
  assert.equal(takeOne(engine, 10).id, 1);
  assert.equal(engine.queries.job(1)?.deadline, 5000, "its deadline stays");
});

test("the permit of a job goes back however it ends", () => {
  const ends: ((engine: TestEngine, lease: Lease) => void)[] = [
    (engine, { id, lease }) => engine.ack(id, lease, 1),
    (engine, { id, lease }) => engine.nack(id, lease, 1),
    (engine, { id, lease }) => engine.giveBack(id, lease, 1),
    (engine, { id }) => void engine.cancel(id, 1),
    (engine) => engine.tick(30_000),
  ];
  for (const end of ends) {
    const { engine } = open();
    engine.setGate("one", { concurrency: 1 }, 0);
    engine.add("q", { gates: ["one"] }, 0);
    engine.add("q", { gates: ["one"], fairnessKey: "other" }, 0);
    const lease = takeOne(engine);
    assert.equal(engine.queries.gateStats("one", 0).inFlight, 1);
    end(engine, lease);
    assert.equal(engine.queries.gateStats("one", 30_000).inFlight, 0, String(end));
    assert.equal(engine.lease("q", 9, 30_000).length, 1, String(end));
  }
});

test("a job that fails for good where no letters are kept tells its error and its stack", () => {
  const { engine, facts } = open({ dlq: false, retry: { attempts: 1 } });
  engine.add("q", {}, 0);
  const { lease } = takeOne(engine);
  engine.nack(1, lease, 5, { error: "no route", stack: "at send" });
  const ended = { at: 5, fact: "ended", id: 1, queue: "q", ending: "failed", blame: [] };
  assert.deepEqual(facts.at(-1), { ...ended, error: "no route", stack: "at send" });
  assert.equal(engine.queries.job(1)?.error, "no route");
});

test("a failure with a stack alone keeps the error that was said before", () => {
  const { engine } = open({ retry: { jitter: 0 } });
  engine.add("q", {}, 0);
  engine.nack(1, takeOne(engine).lease, 0, { error: "no route", stack: "at send", delayMs: 1 });
  engine.nack(1, takeOne(engine, 1).lease, 1, { stack: "at connect", delayMs: 1 });
  const { error, stack } = engine.queries.job(1)!;
  assert.deepEqual([error, stack], ["no route", "at connect"]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { openTelling, rebuilt } from "../testing/test-engine.ts";

test("lists every delivery of a job: its worker, how long it ran, and how it ended", () => {
  const { engine, facts } = openTelling({ retry: { minMs: 0, maxMs: 0, jitter: 0 } });
  engine.setLevel(2, "", 0);
  const { id } = engine.add("q", {}, 1);
  const [first] = engine.lease("q", 1, 10);
  engine.nack(id, first!.lease, 15, { error: "boom" });
  const [second] = engine.lease("q", 1, 20);
  assert.deepEqual(engine.queries.attempts(id).at(-1), {
    lease: 2,
    worker: "once",
    startedAt: 20,
  });
  engine.ack(id, second!.lease, 50);
  const told = [
    { lease: 1, worker: "once", startedAt: 10, endedAt: 15, outcome: "failed", error: "boom" },
    { lease: 2, worker: "once", startedAt: 20, endedAt: 50, outcome: "finished" },
  ];
  assert.deepEqual(engine.queries.attempts(id), told);
  assert.deepEqual(rebuilt(facts).queries.attempts(id), told);
  assert.deepEqual(rebuilt(engine.snapshot()).queries.attempts(id), told);
});

test("a job with a result remembers who made it, and one that never ran has no attempts", () => {
  const { engine } = openTelling();
  const { id } = engine.add("q", {}, 1);
  assert.deepEqual(engine.queries.attempts(id), []);
  const [job] = engine.lease("q", 1, 2);
  engine.ack(id, job!.lease, 4, new Uint8Array(1));
  assert.equal(engine.queries.attempts(id)[0]!.worker, "once");
});

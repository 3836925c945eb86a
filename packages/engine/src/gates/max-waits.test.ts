import assert from "node:assert/strict";
import { test } from "node:test";
import { GateState } from "./gate-state.ts";
import { MaxWaits } from "./max-waits.ts";

/** A gate that opens for all jobs in so many milliseconds. */
function shutFor(ms: number): GateState {
  const gate = new GateState("g");
  gate.cool(1000 + ms, "", 1000);
  return gate;
}

function judged(waits: MaxWaits, gate: GateState, most = 100): { failed: number[]; done: boolean } {
  const failed: number[] = [];
  const done = waits.judge(gate, 1000, most, (_row, id) => failed.push(id));
  return { failed, done };
}

test("those who would wait less than the gate is shut fail, the least patient first", () => {
  const waits = new MaxWaits();
  for (const ms of [50, 10, 40, 20, 30]) waits.add(0, 1, { maxWaitMs: ms, row: ms, id: ms });
  assert.deepEqual(judged(waits, shutFor(0)), { failed: [], done: true });
  assert.deepEqual(judged(waits, shutFor(30)), { failed: [10, 20], done: true });
  assert.equal(waits.isEmpty, false);
  assert.deepEqual(judged(waits, shutFor(1000)).failed, [30, 40, 50]);
  assert.equal(waits.isEmpty, true);
});

test("one call fails only so many and says that it is not done", () => {
  const waits = new MaxWaits();
  for (let id = 1; id <= 5; id++) waits.add(0, 1, { maxWaitMs: id, row: id, id });
  assert.deepEqual(judged(waits, shutFor(100), 2), { failed: [1, 2], done: false });
  assert.deepEqual(judged(waits, shutFor(100), 3), { failed: [3, 4, 5], done: true });
});

test("the wait is that of the job's own tier and cost", () => {
  const gate = new GateState("g");
  gate.configure({ interval: { ms: 100, from: "start", factors: [0.1, 1] }, rate: 1, burst: 5 }, 0);
  gate.take(4, 0, 1000);
  const waits = new MaxWaits();
  waits.add(0, 1, { maxWaitMs: 50, row: 1, id: 1 });
  waits.add(1, 1, { maxWaitMs: 50, row: 2, id: 2 });
  waits.add(0, 2, { maxWaitMs: 50, row: 3, id: 3 });
  const seen: [number, number][] = [];
  waits.judge(gate, 1000, 9, (row, id) => {
    seen.push([row, id]);
  });
  assert.deepEqual(seen, [
    [2, 2],
    [3, 3],
  ]);
});

test("judges no wait while a job runs from whose end the interval counts", () => {
  const gate = new GateState("g");
  gate.configure({ interval: { ms: 100, from: "end" }, windows: [{ limit: 1, perMs: 5000 }] }, 0);
  gate.take(1, 0, 900);
  gate.cool(9000, "", 1000);
  const waits = new MaxWaits();
  waits.add(0, 1, { maxWaitMs: 0, row: 1, id: 1 });
  assert.deepEqual(judged(waits, gate).failed, []);
  gate.release(1000);
  assert.deepEqual(judged(waits, gate).failed, [1]);
});

test("many come out in order of their patience", () => {
  const waits = new MaxWaits();
  const patience = Array.from({ length: 100 }, (_, i) => (i * 37) % 101);
  for (const ms of patience) waits.add(3, 2, { maxWaitMs: ms, row: 1, id: ms });
  const expected = patience.toSorted((a, b) => a - b);
  assert.deepEqual(judged(waits, shutFor(1000)).failed, expected);
});

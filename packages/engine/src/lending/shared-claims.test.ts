import assert from "node:assert/strict";
import { test } from "node:test";
import type { GateConfig } from "../gates/gate-state.ts";
import { openEngine } from "../testing/test-engine.ts";

/** A partition that is the home of `own` alone; one job with several gates waits beside others. */
function partition(gates: Readonly<Record<string, GateConfig>>) {
  const engine = openEngine({ leaseMs: 60_000 }, { isBorrowed: (key) => key !== "own" });
  for (const [key, config] of Object.entries(gates)) engine.setGate(key, config, 0);
  engine.want("q", "w", 100, 0);
  const add = (keys: readonly string[], fairnessKey: string) =>
    engine.add("q", { gates: [...keys], fairnessKey }, 0);
  const grant = (gate: string, lot: number, now: number, until: number) =>
    engine.borrower.grant(gate, { lot, cost: 1, jobs: 1, tier: 0, until }, now);
  const sent = (now: number) => {
    engine.tick(now);
    return engine.dispatch(now).map(({ id }) => id);
  };
  const isAskedFor = (gate: string, now: number) =>
    engine.borrower.wordOf(gate, now).want !== undefined;
  return { engine, add, grant, sent, isAskedFor };
}

test("an interval from the end is kept for a second when a borrowed permit is lacking", () => {
  const own = { interval: { ms: 10, from: "end" } } as const;
  const { engine, add, grant, sent } = partition({ own, far: { rate: 1 } });
  add(["own"], "first");
  assert.deepEqual(sent(0), [1]);
  add(["own", "far"], "both");
  grant("far", 1, 0, 5);
  engine.ack(1, 1, 0);
  assert.deepEqual(sent(10), [], "it has had its turns, and the lot is over");
  add(["own"], "second");
  assert.deepEqual(sent(1009), []);
  assert.deepEqual(sent(1010), [3]);
});

test("a claim asks for places when it has its timed permits", () => {
  const { add, grant, sent, isAskedFor } = partition({ a: { concurrency: 1 }, t: { rate: 1 } });
  add(["a", "t"], "both");
  grant("a", 1, 0, 100);
  assert.deepEqual(sent(200), []);
  grant("t", 2, 200, 300);
  assert.deepEqual(sent(200), []);
  assert.deepEqual([isAskedFor("t", 200), isAskedFor("a", 200)], [false, true]);
  assert.deepEqual(sent(300), []);
  assert.deepEqual([isAskedFor("t", 300), isAskedFor("a", 300)], [true, false]);
  grant("t", 3, 300, 1000);
  assert.deepEqual([isAskedFor("t", 300), isAskedFor("a", 300)], [false, true]);
  grant("a", 4, 300, 1000);
  assert.deepEqual(sent(300), [1]);
});

test("claims ask for permits of one kind in the order of their gates' names", () => {
  const { add, grant, sent, isAskedFor } = partition({ a: { rate: 1 }, b: { rate: 1 } });
  add(["b", "a"], "both");
  grant("b", 1, 0, 100);
  assert.deepEqual(sent(200), []);
  grant("a", 2, 200, 300);
  assert.deepEqual([isAskedFor("a", 200), isAskedFor("b", 200)], [false, true]);
  assert.deepEqual(sent(300), []);
  assert.deepEqual([isAskedFor("a", 300), isAskedFor("b", 300)], [true, false]);
  grant("a", 3, 300, 1000);
  assert.deepEqual([isAskedFor("a", 300), isAskedFor("b", 300)], [false, true]);
  grant("b", 4, 300, 1000);
  assert.deepEqual(sent(300), [1]);
});

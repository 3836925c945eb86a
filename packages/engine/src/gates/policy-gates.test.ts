import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact } from "../facts/facts.ts";
import { openTelling, TestEngine } from "../testing/test-engine.ts";

function make(): { engine: TestEngine; facts: Fact[] } {
  const { engine, facts } = openTelling({ retry: { attempts: 1 } });
  return { engine, facts };
}

test("a job remembers that its gates are its policy's: dead, redriven, ended, replayed", () => {
  const { engine, facts } = make();
  const check = (state: string, gates: readonly string[] = ["g"]): void => {
    const view = engine.queries.job(1)!;
    assert.deepEqual([view.policyGates, view.gates, view.state], [true, gates, state]);
    const follower = new TestEngine();
    for (const fact of facts) follower.apply(fact);
    assert.equal(follower.queries.job(1)?.policyGates, true, state);
  };
  engine.add("q", { gates: ["g"], policyGates: true }, 0);
  engine.add("q", { gates: ["g"] }, 0);
  assert.equal(engine.queries.job(2)?.policyGates, undefined);
  check("waiting");
  const [first] = engine.lease("q", 1, 1);
  engine.nack(1, first!.lease, 2);
  check("dead", []);
  engine.redrive("q.dlq", {}, 3);
  check("waiting");
  engine.cancel(1, 4);
  check("cancelled");
});

test("a failure spares the gates that its worker may not blame", () => {
  const { engine } = make();
  for (const gate of ["a", "b"]) engine.setGate(gate, { ladder: [1000] }, 0);
  engine.add("q", { gates: ["a", "b"] }, 0);
  const [job] = engine.lease("q", 1, 0);
  engine.nack(1, job!.lease, 1, { spare: ["a"] });
  assert.equal(engine.queries.gateStats("a", 2).cooldown, undefined);
  assert.equal(engine.queries.gateStats("b", 2).cooldown?.until, 1001);
});

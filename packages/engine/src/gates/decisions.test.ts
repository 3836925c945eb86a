import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine, type TestEngine } from "../testing/test-engine.ts";
import type { GateConfig } from "./gate-state.ts";

/** Two jobs come to a gate that lets one pass; what it decided is counted. */
function decided(config: GateConfig, before: (engine: TestEngine) => void = () => {}) {
  const engine = openEngine();
  engine.setGate("g", config, 0);
  before(engine);
  engine.want("q", "w", 5, 0);
  for (let i = 0; i < 2; i++) engine.add("q", { gates: ["g"] }, 0);
  engine.dispatch(0);
  engine.tick(1);
  const { passed, kept } = engine.queries.gateDecisions("g", 1);
  return { passed, parts: Object.keys(kept) };
}

test("what passed a gate and what was kept is counted, by the part that was shut", () => {
  const perMs = 60_000;
  assert.deepEqual(decided({ rate: 1, burst: 1 }), { passed: 1, parts: ["rate"] });
  assert.deepEqual(decided({ windows: [{ limit: 1, perMs }] }), { passed: 1, parts: ["window"] });
  assert.deepEqual(decided({ concurrency: 1 }), { passed: 1, parts: ["concurrency"] });
  const interval = { ms: 1000, from: "start" } as const;
  assert.deepEqual(decided({ interval }), { passed: 1, parts: ["interval"] });
  const cooled = decided({ rate: 5 }, (engine) => engine.cooldown("g", 1000, "429", 0));
  assert.deepEqual(cooled, { passed: 0, parts: ["cooldown"] });
  const both = decided({ rate: 5, burst: 5, windows: [{ limit: 1, perMs }] });
  assert.deepEqual(both, { passed: 1, parts: ["window"] });
  const spaced = decided({ rate: 5, burst: 5, interval });
  assert.deepEqual(spaced, { passed: 1, parts: ["interval"] });
  assert.deepEqual(decided({ rate: 5, burst: 5 }), { passed: 2, parts: [] });
});

test("a job with several gates passes each of them", () => {
  const engine = openEngine();
  engine.setGate("a", { concurrency: 5 }, 0);
  engine.setGate("b", { rate: 5 }, 0);
  engine.want("q", "w", 1, 0);
  engine.add("q", { gates: ["a", "b"] }, 0);
  engine.dispatch(0);
  for (const key of ["a", "b"]) assert.equal(engine.queries.gateDecisions(key, 0).passed, 1, key);
  assert.deepEqual(engine.queries.gateDecisions("unseen", 0), { passed: 0, kept: {} });
});

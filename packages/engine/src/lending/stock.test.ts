import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine } from "../testing/test-engine.ts";

test("a lot whose time is over is not used, another one is", () => {
  const engine = openEngine({}, { isBorrowed: () => true });
  engine.setGate("g", { rate: 1000 }, 0);
  engine.want("q", "w", 9, 0);
  engine.borrower.grant("g", { lot: 1, cost: 1, jobs: 1, tier: 0, until: 10 }, 0);
  engine.borrower.grant("g", { lot: 2, cost: 1, jobs: 1, tier: 0, until: 1000 }, 0);
  for (let i = 0; i < 2; i++) engine.add("q", { gates: ["g"] }, 20);
  assert.equal(engine.dispatch(20).length, 1, "one lot is over");
  const { uses } = engine.borrower.wordOf("g", 20);
  assert.deepEqual(
    uses.map(({ lot, usedJobs }) => [lot, usedJobs]),
    [
      [1, 0],
      [2, 1],
    ],
  );
});

test("a charge at a borrowed gate takes nothing from what it has borrowed", () => {
  const engine = openEngine({}, { isBorrowed: () => true });
  engine.setGate("g", { rate: 1000 }, 0);
  engine.want("q", "w", 9, 0);
  engine.borrower.grant("g", { lot: 1, cost: 1, jobs: 1, tier: 0, until: 1000 }, 0);
  engine.charge("g", 500, 0);
  engine.add("q", { gates: ["g"] }, 0);
  assert.equal(engine.dispatch(0).length, 1);
});

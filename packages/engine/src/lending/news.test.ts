import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine } from "../testing/test-engine.ts";

test("a failure at a borrowed gate without a ladder is no news to its home", () => {
  const engine = openEngine({}, { isBorrowed: () => true });
  engine.setGate("g", { rate: 1000 }, 0);
  engine.want("q", "w", 1, 0);
  const { id } = engine.add("q", { gates: ["g"] }, 0);
  engine.borrower.grant("g", { lot: 1, cost: 1, jobs: 1, tier: 0, until: 1000 }, 0);
  const [lease] = engine.dispatch(0);
  engine.nack(id, lease!.lease, 0, { error: "no" });
  assert.equal(engine.queries.job(id)?.state, "delayed");
  assert.deepEqual(engine.lender.takeNews(), []);
});

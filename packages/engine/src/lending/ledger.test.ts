import assert from "node:assert/strict";
import { test } from "node:test";
import { LotLedger, newLot } from "./ledger.ts";

test("what was lent when a save was made replaces what a gate has lent since", () => {
  const lending = new LotLedger();
  lending.add(newLot(1, "b", 5, 5, 1000));
  lending.setHeld("b", 2);
  const save = structuredClone(lending.save());
  lending.add(newLot(2, "c", 3, 3, 1000));
  lending.setHeld("c", 1);
  lending.load(save);
  assert.deepEqual(lending.save(), save);
});

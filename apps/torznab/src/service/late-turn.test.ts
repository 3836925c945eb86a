import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../scheduler/fault.ts";
import { lateTurn } from "./late-turn.ts";

test("a request cut short because its search waited is limited, any other one is a timeout", () => {
  const cut = new Fault("no answer within 900 ms", { status: "timeout" });
  assert.equal((lateTurn(cut, 44_100, 900) as Fault).status, "rate_limited");
  assert.equal(lateTurn(cut, 100, 4_900), cut);
  const slow = new Fault("no answer within 30000 ms", { status: "timeout", penalty: "ladder" });
  assert.equal(lateTurn(slow, 44_100, 900), slow);
  const broken = new Error("a bug");
  assert.equal(lateTurn(broken, 44_100, 900), broken);
});

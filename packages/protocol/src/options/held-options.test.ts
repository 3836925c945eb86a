import assert from "node:assert/strict";
import { test } from "node:test";
import { refused } from "../testing/refused.ts";
import { checkFailure } from "./held-options.ts";

test("a nack with a field that is not what it must be is refused, and the field is named", () => {
  const wrong: readonly [string, object][] = [
    ["nack.error", { error: 7 }],
    ["nack.stack", { stack: ["at a"] }],
    ["nack.delay", { delayMs: -1 }],
    ["nack.unrecoverable", { unrecoverable: "yes" }],
    ["nack.cooldown", { cooldown: 5 }],
    ["nack.cooldown.gate", { cooldown: { gate: "a b", ms: 1 } }],
    ["nack.cooldown.duration", { cooldown: { gate: "a", ms: -1 } }],
    ["nack.blame", { blame: true }],
    ["nack.blame", { blame: Array.from({ length: 17 }, (_, i) => `g${i}`) }],
    ["nack.blame[1]", { blame: ["a", ""] }],
  ];
  for (const [field, said] of wrong)
    assert.equal(
      refused(() => checkFailure(said)),
      field,
    );
  checkFailure({ error: "no", stack: "at a", delayMs: 0, unrecoverable: false, blame: false });
  checkFailure({ cooldown: { gate: "a", ms: 5, reason: "full" }, blame: ["a", "b"] });
});

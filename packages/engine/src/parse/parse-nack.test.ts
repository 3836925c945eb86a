import assert from "node:assert/strict";
import { test } from "node:test";
import { checkNack } from "./parse-nack.ts";

test("a nack with a field that is not what it must be is refused, and the field is named", () => {
  const wrong: readonly [string, object][] = [
    ["nack.error", { error: 7 }],
    ["nack.stack", { stack: ["at a"] }],
    ["nack.delayMs", { delayMs: -1 }],
    ["nack.unrecoverable", { unrecoverable: "yes" }],
  ];
  for (const [field, options] of wrong) {
    assert.throws(
      () => checkNack(options),
      (error: { code?: string; details?: { field?: string } }) =>
        error.code === "INVALID" && error.details?.field === field,
      field,
    );
  }
  checkNack({ error: "no", stack: "at a", delayMs: 0, unrecoverable: false });
});

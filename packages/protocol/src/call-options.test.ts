import assert from "node:assert/strict";
import { test } from "node:test";
import { timedOut } from "./call-options.ts";

test("a call that timed out may have taken effect, unless it only reads", () => {
  assert.match(timedOut("setGate", 200).message, /within 200 ms; it may have taken effect$/);
  assert.match(timedOut("add", 200, "o").message, /Repeat it with details.operationId$/);
  assert.match(timedOut("why", 200).message, /^no answer to `why` within 200 ms$/);
  for (const outside of ["lease", "lend", "stop"]) {
    assert.match(timedOut(outside, 200).message, /it may have taken effect$/);
  }
});

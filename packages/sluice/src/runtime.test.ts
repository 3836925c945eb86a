import assert from "node:assert/strict";
import { test } from "node:test";
import { checkRuntime } from "./runtime.ts";

test("an older Node is refused in a sentence that names both versions", () => {
  for (const version of ["20.20.2", "22.17.1"]) {
    assert.throws(() => checkRuntime(version), {
      code: "INVALID",
      message: `sluice needs Node 22.18 or newer; this is Node ${version}`,
    });
  }
});

test("Node 22.18 and newer pass", () => {
  for (const version of ["22.18.0", "22.23.1", "24.0.0"]) checkRuntime(version);
});

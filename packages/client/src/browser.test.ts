import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

// What `ws/` adds is for Node alone; a browser has sockets of its own.
const NOT_FOR_BROWSERS = ["**/*.test.ts", "ws/**", "testing/**"];
const sources = globSync("**/*.ts", { cwd: import.meta.dirname, exclude: NOT_FOR_BROWSERS });

test("the client runs in a browser too: it uses nothing of Node", () => {
  assert.ok(sources.length > 20);
  for (const name of sources) {
    const text = readFileSync(join(import.meta.dirname, name), "utf8");
    assert.doesNotMatch(text, /from "(?!\.\.?\/|@sluice\/protocol(?:\/wire)?")/, name);
    assert.doesNotMatch(text, /\b(?:Buffer|process)\.\w|\brequire\(/, name);
  }
});

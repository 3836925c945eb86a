import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { StateFile } from "./state.ts";

function freshPath(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "sluice-state-"));
  t.after(() => rmSync(dir, { recursive: true }));
  return join(dir, "state.json");
}

test("the next process reads the stored values", (t) => {
  const path = freshPath(t);
  new StateFile(path, "this machine").put("flood/BullMQ/0", { ms: 12 });
  const next = new StateFile(path, "this machine");
  assert.deepEqual(next.get("flood/BullMQ/0"), { ms: 12 });
  assert.equal(next.get("flood/BullMQ/1"), undefined);
  assert.equal(next.count, 1);
});

test("measurements under other conditions are not mixed in", (t) => {
  const path = freshPath(t);
  new StateFile(path, "this machine").put("a", 1);
  const other = new StateFile(path, "another one");
  assert.equal(other.get("a"), undefined);
  other.put("b", 2);
  assert.equal(new StateFile(path, "another one").get("a"), undefined);
});

test("if the file is damaged, everything is measured again", (t) => {
  const path = freshPath(t);
  writeFileSync(path, '{"version":1,"condi');
  const state = new StateFile(path, "this machine");
  assert.equal(state.get("a"), undefined);
  state.put("a", 1);
  assert.equal(new StateFile(path, "this machine").get("a"), 1);
});

test("a finished run leaves nothing to go on with", (t) => {
  const path = freshPath(t);
  new StateFile(path, "this machine").put("a", 1);
  StateFile.forget(path);
  assert.equal(existsSync(path), false);
  StateFile.forget(path);
});

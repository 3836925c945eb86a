import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { otherCores, readTimes } from "./other-work.ts";

const BUSY = "while (process.cpuUsage().user < 250_000);";

test("what this run and its children use is not the work of others", () => {
  const from = { at: 1000, allMs: 5000, ownMs: 100 };
  assert.equal(otherCores(from, { at: 2000, allMs: 6500, ownMs: 1600 }), 0);
  assert.equal(otherCores(from, { at: 2000, allMs: 6500, ownMs: 850 }), 0.75);
});

test("children that have ended are counted", { skip: process.platform !== "linux" }, () => {
  const from = readTimes();
  spawnSync(process.execPath, ["--eval", BUSY]);
  const to = readTimes();
  assert.ok(from !== undefined && to !== undefined);
  assert.ok(to.ownMs - from.ownMs >= 200, `${to.ownMs - from.ownMs} ms`);
});

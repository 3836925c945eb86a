import assert from "node:assert/strict";
import { test } from "node:test";
import * as module from "@sluice/log";
import { damageOnce, makeHealthy, repairOnce } from "./damage.ts";

// The soak sets more.
const FILES = Number(process.env.DAMAGED_FILES ?? 1000);
const EACH = 20;

test(`none of ${FILES} damaged logs answers what was not appended, or is cut`, async (t) => {
  const ends: Record<string, number> = {};
  for (let seed = 1; seed <= FILES; seed += EACH) {
    const healthy = await makeHealthy(module, seed);
    for (let each = seed; each < seed + EACH; each++) {
      const end = await damageOnce(module, healthy, each);
      ends[end] = (ends[end] ?? 0) + 1;
    }
  }
  t.diagnostic(JSON.stringify(ends));
  assert.ok(ends.refused! > FILES / 2, "the damage is too harmless");
});

test("a repair makes a damaged log open, keeps what it was, and tells what is lost", async (t) => {
  let repaired = 0;
  for (let seed = 1; seed <= FILES / 5; seed += EACH) {
    const healthy = await makeHealthy(module, seed);
    for (let each = seed; each < seed + EACH; each++) {
      if (await repairOnce(module, healthy, each)) repaired++;
    }
  }
  t.diagnostic(`${repaired} repaired`);
  assert.ok(repaired > FILES / 10);
});

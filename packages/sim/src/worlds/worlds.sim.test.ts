// Random worlds: the engine against the slow model, after every call.
//
// WORLDS_COUNT and WORLDS_SEED choose how many fresh worlds run and where their seeds begin;
// WORLDS_BUDGET_MS ends the run early, and the summary says how many ran.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { KINDS, type Kind } from "./plan.ts";
import { reportEngineWorld } from "./report.ts";
import { type EngineWorldEnd, runEngineWorld } from "./run.ts";

const COUNT = Number(process.env.WORLDS_COUNT ?? 10_000);
const BUDGET_MS = Number(process.env.WORLDS_BUDGET_MS ?? 100_000);
// Fresh worlds every day, the same ones all day: a failure in the morning is there at noon.
const FIRST_SEED = Number(process.env.WORLDS_SEED ?? Math.floor(Date.now() / 86_400_000) * 1e6);
const SAVED = new URL("../../seeds/worlds.txt", import.meta.url);

// Lines of `seed kind`, with comments.
function savedSeeds(): { seed: number; kind: Kind }[] {
  return readFileSync(SAVED, "utf8")
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim())
    .filter((line) => line !== "")
    .map((line) => {
      const [seed, kind] = line.split(/\s+/);
      assert.ok(KINDS.includes(kind as Kind), `seeds/worlds.txt: no kind ${kind}`);
      return { seed: Number(seed), kind: kind as Kind };
    });
}

function hold(end: EngineWorldEnd): void {
  if (end.failure !== undefined) assert.fail(reportEngineWorld(end));
}

test("every saved world holds", () => {
  for (const { seed, kind } of savedSeeds()) hold(runEngineWorld(seed, kind));
});

test("engine and model agree after every call of fresh random worlds", (t) => {
  const startedAt = performance.now();
  let calls = 0;
  let leases = 0;
  let ran = 0;
  while (ran < COUNT && performance.now() - startedAt < BUDGET_MS) {
    const end = runEngineWorld(FIRST_SEED + ran);
    hold(end);
    ran += 1;
    calls += end.calls.length;
    leases += end.leases;
  }
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  t.diagnostic(
    `${ran} of ${COUNT} fresh worlds from seed ${FIRST_SEED}: ${calls} calls, ` +
      `${leases} leases judged, in ${seconds} s`,
  );
  assert.ok(ran > 0 && leases > 0);
});

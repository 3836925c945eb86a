// Tests that run worlds: those that once broke, and fresh ones for as long as there is time.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type Counts, type RunWorld, sum, tell, type WorldEnd } from "./world-end.ts";

export interface Seeds {
  readonly start?: number;
  readonly count: number;
  // The run ends early after this; the summary says how many worlds ran.
  readonly budgetMs: number;
}

export function testWorlds(
  sentence: string,
  { start = 1, count, budgetMs }: Seeds,
  run: RunWorld,
  judge: (counts: Counts) => void = () => {},
): void {
  test(sentence, async (t) => {
    const startedMs = performance.now();
    let counts: Counts = {};
    for (let seed = start; seed < start + count; seed++) {
      counts = sum(counts, { worlds: 1, ...hold(seed, await run(seed)) });
      if (performance.now() - startedMs > budgetMs) break;
    }
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    t.diagnostic(`seeds from ${start}: ${tell(counts)}, in ${seconds} s`);
    judge(counts);
  });
}

// Each line of the file is a seed, perhaps a kind, and after a # what it showed.
export function testSaved(
  file: string,
  run: (seed: number, kind: string | undefined) => WorldEnd | Promise<WorldEnd>,
): void {
  const text = readFileSync(new URL(`../seeds/${file}`, import.meta.url), "utf8");
  const lines = text.split("\n").map((line) => line.replace(/#.*/, "").trim());
  const saved = lines.filter((line) => line !== "").map((line) => line.split(/\s+/));
  test(`every saved world of ${file} holds`, async () => {
    for (const [first, kind] of saved) {
      const seed = Number(first);
      assert.ok(Number.isSafeInteger(seed), `seeds/${file}: ${first} is no seed`);
      hold(seed, await run(seed, kind));
    }
  });
}

function hold(seed: number, { failure, counts, report }: WorldEnd): Counts {
  if (failure === undefined) return counts;
  return assert.fail(report?.() ?? `seed ${seed}: ${failure}`);
}

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { runCycles } from "./run.ts";

// The soak sets more.
const CYCLES = Number(process.env.CRASH_CYCLES ?? 50);
const SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);

test(`nothing confirmed is lost in ${CYCLES} kills of a process under load`, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-crash-"));
  const { line, failure } = await runCycles(folder, CYCLES, SEED);
  t.diagnostic(line);
  if (failure !== undefined) {
    assert.fail(`npm run crash -- --cycles ${CYCLES} --seed ${SEED}: ${failure}, in ${folder}`);
  }
  rmSync(folder, { recursive: true, force: true });
});

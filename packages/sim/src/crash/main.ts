// kill -9 of a real process under load:
//
//   --cycles N   how often (default 50)
//   --seed N     what it does and when it dies, as far as the machine allows (default: any)

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runCycles } from "./run.ts";

const { values } = parseArgs({
  options: {
    cycles: { type: "string", default: "50" },
    seed: { type: "string" },
  },
});

const cycles = Number(values.cycles);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const folder = mkdtempSync(join(tmpdir(), "sluice-crash-"));
console.log(`crash: ${cycles} cycles, seed ${seed}, in ${folder}`);
const { line, failure } = await runCycles(folder, cycles, seed);
console.log(line);
if (failure === undefined) rmSync(folder, { recursive: true, force: true });
else {
  console.log(`seed ${seed} broke a promise: ${failure}`);
  console.log(`the data and the histories of all lives are in ${folder}`);
  process.exitCode = 1;
}

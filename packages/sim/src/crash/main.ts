// kill -9 of a real process under load; `--help` says how.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runCycles } from "./run.ts";

const USAGE = `npm run crash -- [options]

  --cycles N   how often the process is killed (default 50)
  --seed N     what it does and when it dies, as far as the machine allows (default: any)`;

const { values } = parseArgs({
  options: {
    help: { type: "boolean", default: false },
    cycles: { type: "string", default: "50" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit();
}

const cycles = wholeNumber("cycles", values.cycles);
const seed = wholeNumber("seed", values.seed);
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

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  console.error(`--${name} must be a whole number below 1000000000, got ${text}\n\n${USAGE}`);
  process.exit(2);
}

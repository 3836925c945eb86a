// Runs worlds by hand:  main.ts [--seed N] [--kind K] [--count N] [--failures N] [--quiet]
//
// One world prints each of its calls, unless `--quiet`. Several run in two threads or more. They
// print what broke, and how often the engine took which choice where the rules leave one; with
// `--quiet` only what broke and the sums. After so many failures (one by default) a thread stops.

import { parseArgs } from "node:util";
import { type Counts, inThreads } from "../threads.ts";
import { describe } from "./call.ts";
import { KINDS, type Kind } from "./plan.ts";
import { reportEngineWorld } from "./report.ts";
import { type EngineWorldEnd, runEngineWorld } from "./run.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    kind: { type: "string" },
    count: { type: "string", default: "1" },
    failures: { type: "string", default: "1" },
    quiet: { type: "boolean", default: false },
  },
});

const kind = values.kind as Kind | undefined;
if (kind !== undefined && !KINDS.includes(kind)) throw new Error(`--kind is one of ${KINDS}`);
const first = Number(values.seed);
const count = Number(values.count);
const isVerbose = count === 1 && !values.quiet;

const counts = await inThreads(import.meta.url, { first, count }, async (seeds) => {
  const sums: Counts = { worlds: 0, calls: 0, leases: 0, broken: 0, idleMs: 0, longestIdleMs: 0 };
  const onCall = isVerbose
    ? (call: Parameters<typeof describe>[0]) => console.log(describe(call))
    : undefined;
  for (const seed of seeds) {
    const end = runEngineWorld(seed, kind, undefined, onCall);
    addUp(sums, end);
    if (end.failure !== undefined) console.log(reportEngineWorld(end));
    if (sums.broken! >= Number(values.failures)) break;
  }
  return sums;
});

if (counts !== undefined) {
  const { worlds, calls, leases, broken, idleMs, longestIdleMs, ...notes } = counts;
  for (const [note, times] of values.quiet ? [] : Object.entries(notes).sort()) {
    console.log(`note: ${note} (${times})`);
  }
  console.log(
    `${worlds} worlds, ${calls} calls, ${leases} leases; places idled for ${idleMs} ms, ` +
      `at most ${longestIdleMs} ms at a time; ${broken} broken`,
  );
  if (broken! > 0) process.exitCode = 1;
}

function addUp(sums: Counts, { calls, leases, failure, idle, notes }: EngineWorldEnd): void {
  sums.worlds! += 1;
  sums.calls! += calls.length;
  sums.leases! += leases;
  sums.broken! += failure === undefined ? 0 : 1;
  sums.idleMs! += idle.sumMs;
  sums.longestIdleMs = Math.max(sums.longestIdleMs!, idle.longestMs);
  for (const [note, times] of notes) sums[note] = (sums[note] ?? 0) + times;
}

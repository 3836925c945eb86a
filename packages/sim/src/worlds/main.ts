// Runs worlds by hand:  main.ts --seed N [--kind K] [--count N] [--quiet]
//
// One world prints each of its calls; several print the failures and what the engine chose where
// the rules leave a choice.

import { parseArgs } from "node:util";
import { describe } from "./call.ts";
import { KINDS, type Kind } from "./plan.ts";
import { reportFailure } from "./report.ts";
import { runWorld, type WorldEnd } from "./run.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    kind: { type: "string" },
    count: { type: "string", default: "1" },
    failures: { type: "string", default: "1" },
  },
});

const kind = values.kind as Kind | undefined;
if (kind !== undefined && !KINDS.includes(kind)) throw new Error(`--kind is one of ${KINDS}`);
const first = Number(values.seed);
const count = Number(values.count);
const isVerbose = count === 1;
const ends: WorldEnd[] = [];

for (let seed = first; seed < first + count; seed++) {
  const onCall = isVerbose
    ? (call: Parameters<typeof describe>[0]) => console.log(describe(call))
    : undefined;
  const end = runWorld(seed, kind, undefined, onCall);
  ends.push(end);
  if (end.failure !== undefined) {
    console.log(reportFailure(end));
    if (ends.filter(({ failure }) => failure !== undefined).length >= Number(values.failures))
      break;
  }
}

summarize(ends);

function summarize(all: readonly WorldEnd[]): void {
  const notes = new Map<string, number>();
  for (const end of all) {
    for (const [note, times] of end.notes) notes.set(note, (notes.get(note) ?? 0) + times);
  }
  for (const [note, times] of [...notes].sort()) console.log(`note: ${note} (${times})`);
  const calls = all.reduce((sum, end) => sum + end.calls.length, 0);
  const leases = all.reduce((sum, end) => sum + end.leases, 0);
  const broken = all.filter(({ failure }) => failure !== undefined).length;
  console.log(`${all.length} worlds, ${calls} calls, ${leases} leases, ${broken} broken`);
  if (broken > 0) process.exitCode = 1;
}

// Worlds by hand:
//
//   worlds   the engine against the model; --kind K: only worlds of this kind
//   faults   the broker through crashes, broken disks and wrong clocks; --hours N: how long each is
//   streams  clients and a server over connections that are cut
//   cluster  partitions that move
//   shared   gates that partitions share
//   steps    handlers in steps whose broker and workers die
//
//   --seed N             one world; `worlds` and `faults` print all that happens in it
//   --count N --start N  so many worlds from there on, with what broke (default 100 from 1)
//   --failures N         a thread stops after so many that broke (default 10)

import { parseArgs } from "node:util";
import { runBrokerWorld } from "./broker-faults/world.ts";
import { runClusterWorld } from "./cluster-faults/world.ts";
import { runSharedGates } from "./shared-gates/world.ts";
import { runSteps } from "./steps/world.ts";
import { runStreamWorld } from "./stream-faults/world.ts";
import { inThreads } from "./threads.ts";
import { type Counts, type RunWorld, sum, tell } from "./world-end.ts";
import { kindNamed } from "./worlds/plan.ts";
import { runEngineWorld } from "./worlds/run.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string" },
    count: { type: "string", default: "100" },
    start: { type: "string", default: "1" },
    failures: { type: "string", default: "10" },
    kind: { type: "string" },
    hours: { type: "string", default: "0" },
  },
});

const isOne = values.seed !== undefined;
const print = isOne ? (line: string) => console.log(line) : undefined;
const kind = values.kind === undefined ? undefined : kindNamed(values.kind);
const hours = Number(values.hours);

const WORLDS: Readonly<Record<string, RunWorld>> = {
  worlds: (seed) => runEngineWorld(seed, { kind, print }),
  faults: (seed) => runBrokerWorld({ seed, hours, print }),
  streams: (seed) => runStreamWorld({ seed, crashes: true, away: seed % 2 === 0 }),
  cluster: (seed) => runClusterWorld(seed),
  shared: (seed) => runSharedGates(seed),
  steps: (seed) => runSteps(seed),
};

const [name = ""] = positionals;
const run = WORLDS[name];
if (run === undefined) throw new Error(`${name} is not one of ${Object.keys(WORLDS).join(", ")}`);
const seeds = {
  first: Number(values.seed ?? values.start),
  count: isOne ? 1 : Number(values.count),
};
const all = await inThreads(import.meta.url, seeds, async (part) => {
  let counts: Counts = { worlds: 0, broken: 0 };
  for (const seed of part) {
    const { failure, report, counts: its } = await run(seed);
    const broken = failure === undefined ? 0 : 1;
    counts = sum(counts, { worlds: 1, broken, ...its });
    if (broken > 0) console.log(report?.() ?? `${name}, seed ${seed}: ${failure}`);
    if (counts.broken! >= Number(values.failures)) break;
  }
  return counts;
});

if (all !== undefined) {
  console.log(tell(all));
  process.exitCode = all.broken! > 0 ? 1 : 0;
}

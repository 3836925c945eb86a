// Worlds of faults by hand:
//
//   --seed N             one world, with its whole history
//   --count N --start N  so many worlds from there on, with what broke (default 100 from 1)
//   --hours N            worlds that last so many simulated hours; without it, some minutes each

import { parseArgs } from "node:util";
import { inThreads } from "../threads.ts";
import { reportBrokerWorld, Summary } from "./report.ts";
import { runBrokerWorld } from "./world.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    count: { type: "string", default: "100" },
    start: { type: "string", default: "1" },
    hours: { type: "string", default: "0" },
  },
});

const hours = Number(values.hours);
const isOne = values.seed !== undefined;
const start = Number(values.seed ?? values.start);
const count = isOne ? 1 : Number(values.count);
const print = isOne ? (line: string) => console.log(line) : undefined;

const counts = await inThreads(import.meta.url, { first: start, count }, async (seeds) => {
  const summary = new Summary();
  for (const seed of seeds) {
    const end = await runBrokerWorld({ seed, hours, print });
    summary.add(end);
    if (end.failure !== undefined) console.log(reportBrokerWorld(end));
  }
  return summary.counts;
});

if (counts !== undefined) {
  const summary = new Summary(counts);
  console.log(summary.toString());
  process.exitCode = summary.broken > 0 ? 1 : 0;
}

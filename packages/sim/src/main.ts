// The simulation by hand:
//
//   --seed N             one seed, with every event
//   --count N --start N  so many seeds from there on, with what broke (default 100 fresh ones)
//   --days N             days instead of an hour a seed

import { parseArgs } from "node:util";
import { reportFailure, Summary } from "./run/report.ts";
import { HOUR_MS, runSeed } from "./run/run.ts";
import { unseenStart } from "./run/seeds.ts";
import { range, sweep } from "./run/sweep.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    count: { type: "string", default: "100" },
    start: { type: "string" },
    days: { type: "string" },
  },
});

const print = (line: string): void => console.log(line);
const lengthMs = values.days === undefined ? HOUR_MS : number("days", values.days) * 24 * HOUR_MS;

if (values.seed !== undefined) runOne(number("seed", values.seed));
else runMany(values.start === undefined ? unseenStart() : number("start", values.start));

function number(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  console.error(`--${name} must be a whole number, got ${text}`);
  process.exit(2);
}

function runOne(seed: number): void {
  const end = runSeed({ seed, lengthMs, print });
  const summary = new Summary();
  summary.add(end);
  print(end.failure === undefined ? `seed ${seed} holds` : reportFailure(end));
  print(`${summary}, trace ${end.hash}`);
  process.exitCode = summary.broken > 0 ? 1 : 0;
}

function runMany(start: number): void {
  const count = number("count", values.count);
  const summary = new Summary();
  print(`${count} seeds from ${start}`);
  for (const end of sweep(range(start, count), { lengthMs })) {
    summary.add(end);
    if (end.failure !== undefined) print(reportFailure(end));
  }
  print(summary.toString());
  process.exitCode = summary.broken > 0 ? 1 : 0;
}

// The long run before a release: hours, days, and random worlds against the slow model.

import { reportFailure as reportWorld } from "../worlds/report.ts";
import { runWorld } from "../worlds/run.ts";
import { reportFailure, Summary } from "./report.ts";
import { HOUR_MS } from "./run.ts";
import { savedSeeds, unseenStart } from "./seeds.ts";
import { range, sweep } from "./sweep.ts";

const HOURS = 20_000;
const WEEKS = 100;
const WEEK_MS = 7 * 24 * HOUR_MS;
const WORLDS = 500_000;
// Runs between two lines of progress.
const SHOW_EVERY = { hours: 500, weeks: 5, worlds: 10_000 };

// Answers how many runs broke.
export function soak(print: (line: string) => void): number {
  const start = unseenStart();
  print(`soak from seed ${start}`);
  const hours = [...savedSeeds(), ...range(start, HOURS)];
  return (
    soakSeeds("hours", hours, HOUR_MS, print) +
    soakSeeds("weeks", [...range(start, WEEKS)], WEEK_MS, print) +
    soakWorlds(start, print)
  );
}

function soakSeeds(
  name: "hours" | "weeks",
  seeds: readonly number[],
  lengthMs: number,
  print: (line: string) => void,
): number {
  const summary = new Summary();
  for (const end of sweep(seeds, { lengthMs })) {
    summary.add(end);
    if (end.failure !== undefined) print(reportFailure(end));
    if (summary.seeds % SHOW_EVERY[name] === 0) print(`${name}: ${summary} of ${seeds.length}`);
  }
  return summary.broken;
}

function soakWorlds(start: number, print: (line: string) => void): number {
  let broken = 0;
  for (let ran = 1; ran <= WORLDS; ran++) {
    const end = runWorld(start + ran);
    if (end.failure !== undefined) {
      broken += 1;
      print(reportWorld(end));
    }
    if (ran % SHOW_EVERY.worlds === 0) print(`worlds: ${ran} of ${WORLDS}, ${broken} broken`);
  }
  return broken;
}

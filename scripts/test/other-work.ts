// How much of the machine others used while the tests ran: a run that took long beside them says
// nothing about the tests.

import { readFileSync } from "node:fs";
import { cpus } from "node:os";

// Linux counts in hundredths of a second.
const MS_PER_TICK = 10;
// Of the fields behind the name of the program, which may hold anything: its own time and that of
// the children that have ended, in user mode and in the kernel.
const TIMES = [11, 12, 13, 14];

export interface Times {
  readonly at: number;
  readonly allMs: number;
  readonly ownMs: number;
}

// Cores that other programs kept busy on average.
export function otherCores(from: Times, to: Times): number {
  const otherMs = to.allMs - from.allMs - (to.ownMs - from.ownMs);
  return Math.max(0, otherMs / (to.at - from.at));
}

// Undefined where the system does not tell.
export function readTimes(): Times | undefined {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)!.split(" ");
    const ticks = TIMES.reduce((sum, field) => sum + Number(fields[field]), 0);
    const busy = cpus().map(({ times }) => times.user + times.nice + times.sys + times.irq);
    const allMs = busy.reduce((sum, ms) => sum + ms, 0);
    return { at: performance.now(), allMs, ownMs: ticks * MS_PER_TICK };
  } catch {
    return undefined;
  }
}

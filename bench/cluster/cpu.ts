// Processor time of processes that cannot be asked, as the kernel counts it.

import { readFileSync } from "node:fs";

// Of user time, among the fields behind the name; system time is the next one.
const USER_FIELD = 11;
// /proc counts in hundredths of a second on every Linux that Node runs on.
const TICK_MICROS = 10_000;

// User and system time of all of them since they were started.
export function cpuMicrosOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + ticksOf(pid) * TICK_MICROS, 0);
}

function ticksOf(pid: number): number {
  const line = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The name may hold anything, a bracket too.
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return Number(fields[USER_FIELD]) + Number(fields[USER_FIELD + 1]);
}

// Processor time and memory of processes that cannot report them, as the kernel counts them.

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

const PAGE_BYTES = 4096;

// What a process has in memory.
export function rssBytesOf(pid: number): number {
  const [, pages] = readFileSync(`/proc/${pid}/statm`, "latin1").split(" ");
  return Number(pages) * PAGE_BYTES;
}

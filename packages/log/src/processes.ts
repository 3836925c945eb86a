import { readFileSync } from "node:fs";
import { codeOf } from "./disk.ts";

/**
 * A process, named so that no later one can be taken for it: numbers of processes are given out
 * again, and all of them after a boot.
 */
export interface ProcessName {
  readonly pid: number;
  /** Clock ticks from the boot to its start; null where the system does not tell. */
  readonly startedTicks: number | null;
  readonly bootId: string | null;
}

export interface Processes {
  self(): ProcessName;
  isRunning(name: ProcessName): boolean;
}

export const realProcesses: Processes = {
  self: () => ({ pid: process.pid, startedTicks: readStart(process.pid), bootId: readBootId() }),
  isRunning({ pid, startedTicks, bootId }) {
    const boot = readBootId();
    if (bootId !== null && boot !== null && bootId !== boot) return false;
    if (!exists(pid)) return false;
    const started = readStart(pid);
    return startedTicks === null || started === null || started === startedTicks;
  },
};

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process: it runs, and we may not signal it.
    return codeOf(error) === "EPERM";
  }
}

/** -1, which no process has, for one that is dead and waits for its parent to look. */
function readStart(pid: number): number | null {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return null;
  // The name in parentheses may hold anything, so the fields are counted behind it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state] = fields;
  if (state === "Z" || state === "X") return -1;
  const ticks = Number(fields[19]);
  return Number.isSafeInteger(ticks) ? ticks : null;
}

function readBootId(): string | null {
  return readText("/proc/sys/kernel/random/boot_id")?.trim() ?? null;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

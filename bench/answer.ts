// The other end of a `Process`: answers its questions, and ends with it.

import { readdirSync, readFileSync } from "node:fs";

export type Questions = Readonly<Record<string, (...args: never[]) => unknown>>;

// Processor time since the last question about it, in microseconds.
let before = process.cpuUsage();

export function answer(questions: Questions): void {
  const all: Questions = { ...questions, cpuMicros, busiestThreadMicros };
  process.on("disconnect", () => process.exit(1));
  process.on("message", async ({ question, args }: { question: string; args: never[] }) => {
    try {
      process.send!({ answer: await all[question]!(...args) });
    } catch (error) {
      process.send!({ error: error instanceof Error ? error.stack : String(error) });
    }
  });
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage(before);
  before = process.cpuUsage();
  return user + system;
}

// Processor time of each thread at the last question about the busiest, in ticks of the system.
let threads = new Map<string, number>();
const MICROS_PER_TICK = 10_000;
// Of the fields behind the name of the thread, which may hold anything.
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;

// Processor time since the last question about it, of the thread that took the most.
function busiestThreadMicros(): number {
  const before = threads;
  threads = new Map(readdirSync("/proc/self/task").map((id) => [id, ticksOf(id)]));
  let most = 0;
  for (const [id, ticks] of threads) most = Math.max(most, ticks - (before.get(id) ?? 0));
  return most * MICROS_PER_TICK;
}

function ticksOf(thread: string): number {
  const text = readFileSync(`/proc/self/task/${thread}/stat`, "utf8");
  const fields = text.split(") ").at(-1)!.split(" ");
  return Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS]);
}

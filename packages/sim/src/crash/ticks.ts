// Schedules beside the other load: each life makes one whose ticks are a few milliseconds apart,
// and no worker takes its jobs. In the end each tick must have one job: those that fell due while
// no process ran are caught up.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Broker, walkPages } from "@sluice/protocol";
import { UNWATCHED } from "../broker-faults/record.ts";
import { demand } from "../demand.ts";

const TICKS = 60;
const APART_MS = 5;

const fileIn = (folder: string): string => join(folder, "ticks.jsonl");

// Makes the schedule of a life, and writes down that it was answered.
export async function makeTicks(broker: Broker, folder: string, life: number): Promise<void> {
  await broker.setQueue(UNWATCHED, {});
  const from = Date.now() + 4 * APART_MS;
  const at = Array.from({ length: TICKS }, (_, i) => from + i * APART_MS);
  const name = `life-${life}`;
  const options = { at, catchUp: "all", overlap: "allow" } as const;
  const { next } = await broker.setSchedule(UNWATCHED, name, options);
  // What had passed when it was set is no tick of it.
  const told = at.filter((tick) => tick >= (next[0] ?? Number.POSITIVE_INFINITY));
  appendFileSync(fileIn(folder), `${JSON.stringify({ name, at: told })}\n`);
}

// When the last tick of all has passed, and all are decided. Answers how many there were.
export async function judgeTicks(broker: Broker, folder: string): Promise<number> {
  const made = await jobsByTick(broker);
  let count = 0;
  for (const [name, ids] of made) {
    count++;
    demand(ids === 1, "a tick never twice", () => `${name} has ${ids} jobs`);
  }
  for (const { name, at } of confirmed(folder)) {
    for (const tick of at) {
      demand(made.has(`${name} ${tick}`), "none missing beyond catchUp", () => {
        return `${name} has no job for ${tick}`;
      });
    }
  }
  return count;
}

export function lastTick(folder: string): number {
  return Math.max(0, ...confirmed(folder).flatMap(({ at }) => at));
}

function confirmed(folder: string): { name: string; at: number[] }[] {
  if (!existsSync(fileIn(folder))) return [];
  const lines = readFileSync(fileIn(folder), "utf8").split("\n");
  // The last line ends with a newline, or was cut.
  lines.pop();
  return lines.map((line) => JSON.parse(line));
}

async function jobsByTick(broker: Broker): Promise<Map<string, number>> {
  const made = new Map<string, number>();
  const pages = walkPages((from) => broker.jobs(UNWATCHED, { limit: 1000, ...from }));
  for await (const { schedule } of pages) {
    const name = `${schedule!.name} ${schedule!.tick}`;
    made.set(name, (made.get(name) ?? 0) + 1);
  }
  return made;
}

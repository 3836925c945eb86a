// Handlers of the server under load: one that notes how long its job waited, and one that computes.

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { threadId } from "node:worker_threads";

const WRITE_EVERY_MS = 50;
let lines: string[] = [];

function write(): void {
  if (lines.length === 0) return;
  appendFileSync(join(process.env.WAITS!, `${process.pid}-${threadId}`), lines.join(""));
  lines = [];
}

export default {
  stamp: (args: unknown): void => {
    const { group, dueAt } = args as { group: string; dueAt: number };
    if (lines.length === 0) setTimeout(write, WRITE_EVERY_MS);
    lines.push(`${group} ${Date.now() - dueAt}\n`);
  },
  spin: (args: unknown): void => {
    const until = Date.now() + (args as { ms: number }).ms;
    while (Date.now() < until);
  },
  nothing: (): void => {},
};

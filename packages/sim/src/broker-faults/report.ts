// What a run prints: what broke, how to see it again, and the sums over many worlds.

import type { Counts } from "../run/threads.ts";
import type { WorldEnd } from "./world.ts";

const LINE_CHARS = 300;
const LINES = 12;

export function reportFailure({ seed, failure, last }: WorldEnd): string {
  return [
    `broker faults, seed ${seed}, broke a promise:`,
    `  ${failure}`,
    ...last.slice(-LINES).map((line) => `    ${line.slice(0, LINE_CHARS)}`),
    `run it again with: node packages/sim/src/broker-faults/main.ts --seed ${seed}`,
  ].join("\n");
}

/** Sums over many worlds, also over those of other threads. */
export class Summary {
  readonly counts: Counts;

  constructor(counts: Counts = {}) {
    this.counts = counts;
  }

  get broken(): number {
    return this.counts.broken ?? 0;
  }

  add({ failure, totals, idle }: WorldEnd): void {
    const { counts } = this;
    const sums = { seeds: 1, broken: failure === undefined ? 0 : 1, idleMs: idle.sumMs };
    for (const [name, count] of Object.entries({ ...sums, ...totals })) {
      counts[name] = (counts[name] ?? 0) + count;
    }
    counts.longestIdleMs = Math.max(counts.longestIdleMs ?? 0, idle.longestMs);
  }

  toString(): string {
    const { seeds, restarts, adds, deliveries, acks, idleMs, longestIdleMs } = this.counts;
    return (
      `${seeds} seeds, ${restarts} restarts, ${adds} confirmed adds, ${deliveries} deliveries, ` +
      `${acks} acks; places idled for ${idleMs} ms, at most ${longestIdleMs} ms at a time; ` +
      `${this.broken} broken`
    );
  }
}

// What a run prints: what broke, how to see it again, and the sums over many worlds.

import type { Counts } from "../threads.ts";
import type { BrokerWorldEnd } from "./world.ts";

const LINE_CHARS = 300;
const LINES = 12;

export function reportBrokerWorld({ seed, hours, failure, last }: BrokerWorldEnd): string {
  const length = hours === 0 ? "" : ` --hours ${hours}`;
  return [
    `broker faults, seed ${seed}${length}, broke a promise:`,
    `  ${failure}`,
    ...last.slice(-LINES).map((line) => `    ${line.slice(0, LINE_CHARS)}`),
    `run it again with: npm run faults -- --seed ${seed}${length}`,
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

  add({ failure, totals, idle, simulatedMs }: BrokerWorldEnd): void {
    const { counts } = this;
    const broken = failure === undefined ? 0 : 1;
    const sums = { seeds: 1, broken, idleMs: idle.sumMs, simulatedMs };
    for (const [name, count] of Object.entries({ ...sums, ...totals })) {
      counts[name] = (counts[name] ?? 0) + count;
    }
    counts.longestIdleMs = Math.max(counts.longestIdleMs ?? 0, idle.longestMs);
  }

  toString(): string {
    const { seeds, restarts, adds, deliveries, acks, idleMs, longestIdleMs } = this.counts;
    const hours = ((this.counts.simulatedMs ?? 0) / 3_600_000).toFixed(1);
    return (
      `${seeds} seeds, ${hours} simulated hours, ${restarts} restarts, ` +
      `${adds} confirmed adds, ${deliveries} deliveries, ` +
      `${acks} acks; places idled for ${idleMs} ms, at most ${longestIdleMs} ms at a time; ` +
      `${this.broken} broken`
    );
  }
}

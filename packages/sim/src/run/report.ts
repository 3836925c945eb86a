// What a run prints: enough to see what broke, to run it again, and to save it.

import { HOUR_MS, type RunEnd } from "./run.ts";

const DAY_MS = 24 * HOUR_MS;

function commandOf({ seed, lengthMs }: Pick<RunEnd, "seed" | "lengthMs">): string {
  const days = lengthMs > HOUR_MS ? ` --days ${lengthMs / DAY_MS}` : "";
  return `sim --seed ${seed}${days}`;
}

export function reportFailure(end: RunEnd): string {
  return [
    `${commandOf(end)} broke a promise after ${end.events} events:`,
    `  ${end.failure}`,
    `the last ${end.last.length} events:`,
    ...end.last.map((line) => `  ${line}`),
    `run it again with: npm run sim -- ${commandOf(end).slice("sim ".length)}`,
  ].join("\n");
}

// Sums over many runs.
export class Summary {
  seeds = 0;
  broken = 0;
  #hours = 0;
  #events = 0;
  #crashes = 0;
  #dispatches = 0;

  add(end: RunEnd): void {
    this.seeds += 1;
    if (end.failure !== undefined) this.broken += 1;
    this.#hours += end.lengthMs / HOUR_MS;
    this.#events += end.events;
    this.#crashes += end.crashes;
    this.#dispatches += end.dispatches;
  }

  toString(): string {
    return (
      `${this.seeds} seeds, ${this.#hours} simulated hours, ${this.#events} events, ` +
      `${this.#crashes} crashes, ${this.#dispatches} dispatches, ${this.broken} broken`
    );
  }
}

// What a run prints: what broke, how to see it again, and the sums over many worlds.

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

export class Summary {
  broken = 0;
  #seeds = 0;
  #adds = 0;
  #acks = 0;
  #deliveries = 0;
  #restarts = 0;

  add({ failure, totals }: WorldEnd): void {
    this.#seeds++;
    if (failure !== undefined) this.broken++;
    this.#adds += totals.adds;
    this.#acks += totals.acks;
    this.#deliveries += totals.deliveries;
    this.#restarts += totals.restarts;
  }

  toString(): string {
    return (
      `${this.#seeds} seeds, ${this.#restarts} restarts, ${this.#adds} confirmed adds, ` +
      `${this.#deliveries} deliveries, ${this.#acks} acks, ${this.broken} broken`
    );
  }
}

/**
 * How many jobs each partition runs of gates that are at home in another one. The home begins with
 * these numbers, so that a gate lets through no more than its concurrency from the first moment on.
 */
import type { Fact, JobRecord } from "@sluice/engine";
import type { PartHomes } from "./part-homes.ts";

export class HeldAtGates {
  readonly #homes: PartHomes;
  /** By gate and partition. */
  readonly #held = new Map<string, Map<number, number>>();

  constructor(homes: PartHomes) {
    this.#homes = homes;
  }

  count(partition: number, { state, gates }: JobRecord): void {
    if (state !== "leased") return;
    for (const gate of gates) {
      if (this.#homes.homeOfGate(gate) === partition) continue;
      const held = this.#held.get(gate) ?? new Map<number, number>();
      held.set(partition, (held.get(partition) ?? 0) + 1);
      this.#held.set(gate, held);
    }
  }

  *facts(at: number): Generator<{ partition: number; fact: Fact }> {
    for (const [key, counts] of this.#held) {
      const partition = this.#homes.homeOfGate(key);
      for (const [borrower, held] of counts) {
        const fact = { at, fact: "lots", key, borrower: String(borrower), held, uses: [] } as const;
        yield { partition, fact };
      }
    }
  }
}

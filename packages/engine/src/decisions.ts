import type { Gate } from "./gate.ts";
import type { GateDecisions, GatePart } from "./types.ts";

/**
 * How often a gate let a job pass, and how often it kept the first in its line, by the part that
 * was shut. Counted since the gate was made in this process: nothing depends on it, so no fact
 * tells it. Most gates keep nothing, and have no counts for that.
 */
export class Decisions {
  passed = 0;
  #kept: Map<GatePart, number> | undefined = undefined;

  keep(gate: Gate, opensAt: number, cost: number, tier: number, now: number): void {
    const part = partOf(gate, opensAt) ?? gate.part(cost, tier, now) ?? "line";
    this.#kept ??= new Map();
    this.#kept.set(part, (this.#kept.get(part) ?? 0) + 1);
  }

  read(): GateDecisions {
    return { passed: this.passed, kept: Object.fromEntries(this.#kept ?? []) };
  }
}

/** The part that is shut, where that can be told without asking each; undefined: it cannot. */
function partOf(gate: Gate, opensAt: number): GatePart | undefined {
  if (gate.cooldownUntil === opensAt) return "cooldown";
  const { bucket, windows, spacings } = gate;
  if (opensAt === Number.POSITIVE_INFINITY) return undefined;
  if (windows === undefined && spacings === undefined) return "rate";
  if (bucket === undefined && spacings === undefined) return "window";
  return bucket === undefined && windows === undefined ? "interval" : undefined;
}

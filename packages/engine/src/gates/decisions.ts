import type { GateDecisions } from "../types.ts";
import type { GatePart, GateState } from "./gate-state.ts";

/**
 * How often a gate let a job pass, and how often it kept the first in its line, by the part that
 * was shut. Counted since the gate was made in this process: nothing depends on it, so no fact
 * tells it. Most gates keep nothing, and have no counts for that.
 */
export class Decisions {
  passed = 0;
  #kept: Record<GatePart, number> | undefined = undefined;

  /** The first in line must wait until `opensAt`. */
  keep(gate: GateState, opensAt: number, cost: number, tier: number, now: number): void {
    const part = partOf(gate, opensAt) ?? gate.part(cost, tier, now) ?? "line";
    this.#kept ??= { rate: 0, interval: 0, window: 0, concurrency: 0, cooldown: 0, line: 0 };
    this.#kept[part]++;
  }

  read(): GateDecisions {
    const counted = Object.entries(this.#kept ?? {}).filter(([, count]) => count > 0);
    return { passed: this.passed, kept: Object.fromEntries(counted) };
  }
}

/**
 * The part that is shut, if it is known without asking each part; undefined if not. This runs
 * whenever a gate is looked at under load.
 */
function partOf(gate: GateState, opensAt: number): GatePart | undefined {
  const { bucket, windows, spacings, config } = gate;
  if (opensAt === Number.POSITIVE_INFINITY) {
    const isFull = config?.concurrency !== undefined && gate.inFlight >= config.concurrency;
    return isFull ? "concurrency" : undefined;
  }
  if (gate.cooldownUntil === opensAt) return "cooldown";
  if (spacings !== undefined) return (bucket ?? windows) ? undefined : "interval";
  if (windows === undefined) return "rate";
  return bucket === undefined ? "window" : undefined;
}

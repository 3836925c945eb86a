import type { Core } from "../core.ts";

/** Corrects what was taken from a gate, afterwards. */
export function charge(core: Core, key: string, cost: number, now: number): void {
  const gate = core.gates.gateOf(key, now);
  gate.charge(cost, now);
  core.lines.changed(gate);
}

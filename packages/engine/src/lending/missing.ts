import type { GateLine } from "../gates/gate-line.ts";
import type { Stock } from "./stock.ts";

interface Waiting {
  readonly cost: number;
  readonly tier: number;
}

/** What the stock lacks for the first jobs that could go out: what to ask the gate's home for. */
export function noteMissing(
  gate: GateLine,
  stock: Stock,
  first: Waiting | undefined,
  claimed: Waiting | undefined,
  now: number,
): void {
  stock.note();
  stock.missing = undefined;
  if (gate.config === undefined || gate.cooldownUntil > now) return;
  const waiting = [first, claimed].filter((one) => one !== undefined);
  if (waiting.length === 0) return;
  const costs = [first?.cost ?? 0, claimed?.cost ?? 0] as const;
  const tier = Math.min(...waiting.map((one) => one.tier));
  const unit = Math.max(...costs);
  const needsBoth = gate.keepsBoth(...costs);
  const cost = needsBoth ? costs[0] + costs[1] : unit;
  const left = stock.left(gate.spacing(tier), now);
  if (left.cost >= cost && left.jobs >= (needsBoth ? waiting.length : 1)) return;
  stock.missing = { cost: Math.max(1, cost - left.cost), tier, unit };
}

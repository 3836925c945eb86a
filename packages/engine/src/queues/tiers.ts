import { invalid } from "../errors.ts";

export interface TierConfig {
  name: string;
  /** Jobs ready or gated in this tier; absent: only the queue's capacity counts. */
  capacity?: number | undefined;
  /** Jobs ready or gated that one key may have in this tier; absent: only `capacity.perLane`. */
  perLane?: number | undefined;
  /** Tier index that takes the overflow under `onFull: "spill"`; absent: the next one. */
  spillTo?: number | undefined;
}

/** Which jobs of a queue come first. */
export interface TierOptions {
  tiers: readonly TierConfig[];
  /** `strict`, or one weight per tier. */
  tierOrder: "strict" | readonly number[];
  /** A waiting job moves up one tier after this long. */
  promoteAfterMs?: number | undefined;
}

/** A priority by index or name; a job that has none is in no hurry and goes to the last tier. */
export function tierOf(priority: number | string | undefined, { tiers }: TierOptions): number {
  return priority === undefined ? tiers.length - 1 : namedTier(priority, tiers);
}

function namedTier(priority: number | string, tiers: TierOptions["tiers"]): number {
  if (typeof priority === "string") {
    for (let tier = 0; tier < tiers.length; tier++) if (tiers[tier]!.name === priority) return tier;
    throw invalid("job.priority", `one of ${tiers.map((t) => t.name).join(", ")}`, priority);
  }
  if (tiers[priority] !== undefined) return priority;
  throw invalid("job.priority", `an integer from 0 to ${tiers.length - 1}`, priority);
}

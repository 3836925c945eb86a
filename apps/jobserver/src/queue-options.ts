/** The configuration, in the words of a Sluice queue. */
import type { QueueOptions } from "sluice";
import type { Config, TierSize } from "./config.ts";
import type { Submission } from "./submission.ts";

/** Weights are whole numbers: this many parts of the dispatches are given out. */
const PARTS = 1000;
/** A job whose worker died is tried again; one that failed by itself is not. */
const ATTEMPTS = 3;

export function queueOptions(config: Config, sizes: readonly TierSize[]): QueueOptions<Submission> {
  const total = sizes.reduce((sum, { capacity }) => sum + capacity, 0);
  return {
    tiers: sizes.map((tier) => ({ ...tier, ...partOf(tier, config.submitterShare) })),
    tierOrder: orderOf(config),
    promoteAfter: config.maxWaitMs === 0 ? null : config.maxWaitMs,
    capacity: { jobs: total },
    onFull: "spill",
    dlq: false,
    retry: { attempts: ATTEMPTS },
    results: { jobs: config.results.jobs, ttl: config.results.ms },
  };
}

/** What one submitter may have waiting in a tier; a share of 0 sets no limit. */
function partOf({ capacity }: TierSize, share: number): { perLane?: number } {
  return share === 0 ? {} : { perLane: Math.max(1, Math.floor(capacity * share)) };
}

/** The first tier goes first, or the lower ones have a share together that nobody takes. */
function orderOf({ slowShare, tiers }: Config): "strict" | number[] {
  if (slowShare === 0 || tiers.length === 1) return "strict";
  const lower = Math.max(1, Math.round((PARTS * slowShare) / (tiers.length - 1)));
  const first = Math.max(1, Math.round(PARTS * (1 - slowShare)));
  return tiers.map((_, index) => (index === 0 ? first : lower));
}

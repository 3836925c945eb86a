/** The configuration, in the words of a Sluice queue. */
import type { QueueOptions } from "sluice";
import type { Config, TierSize } from "./config.ts";
import type { Submission } from "./submission.ts";

/** How far the share that the lower tiers get may be from the one that was asked for. */
const SHARE_ERROR = 0.01;
const WEIGHT_MAX = 100;
/** A job whose worker died is tried again; one that failed by itself is not. */
const ATTEMPTS = 3;

export function queueOptions(
  config: Config,
  sizes: readonly TierSize[],
  retired = 0,
): QueueOptions<Submission> {
  const total = sizes.reduce((sum, { capacity }) => sum + capacity, 0);
  return {
    tiers: [
      // A configured name has no colon.
      ...Array.from({ length: retired }, (_, index) => ({ name: `retired:${index}` })),
      ...sizes.map((tier) => ({ ...tier, ...partOf(tier, config.submitterShare) })),
    ],
    tierOrder: orderOf(config, retired),
    promoteAfter: config.maxWaitMs === 0 ? null : config.maxWaitMs,
    capacity: { jobs: total },
    onFull: "spill",
    dlq: false,
    // Only jobs whose server was killed are tried again, and there is nothing to wait for.
    retry: { attempts: ATTEMPTS, min: 0, max: 0, jitter: 0 },
    results: { jobs: config.results.jobs, ttl: config.results.ms },
  };
}

/** What one submitter may have waiting in a tier; a share of 0 sets no limit. */
function partOf({ capacity }: TierSize, share: number): { perLane?: number } {
  return share === 0 ? {} : { perLane: Math.max(1, Math.floor(capacity * share)) };
}

/**
 * The first tier goes first, or the lower ones together have a reserved share. A turn is
 * as many jobs as the weight says, so the smallest weights that come near the share are the best:
 * 3 to 1 alternates every few jobs, 750 to 250 every thousand.
 */
function orderOf({ slowShare, tiers }: Config, retired: number): "strict" | number[] {
  const lower = tiers.length - 1;
  if (slowShare === 0 || lower === 0) return "strict";
  for (let weight = 1; ; weight++) {
    const first = Math.max(1, Math.round((lower * weight * (1 - slowShare)) / slowShare));
    const share = (lower * weight) / (first + lower * weight);
    if (Math.abs(share - slowShare) > SHARE_ERROR && weight < WEIGHT_MAX) continue;
    const weights = tiers.map((_, index) => (index === 0 ? first : weight));
    return [...Array.from({ length: retired }, () => first), ...weights];
  }
}

import type { RetryOptions } from "../jobs/backoff.ts";
import type { CapacityOptions } from "./capacity.ts";
import type { DeadLetterOptions } from "./dead-letters.ts";
import type { ResultOptions } from "./kept-jobs.ts";
import type { TierOptions } from "./tiers.ts";
import type { LaneOptions } from "./weights.ts";

/**
 * The policy of a queue. Each part of the engine has the options that it acts on in its own file;
 * here are those of several parts.
 */
export interface QueueConfig
  extends TierOptions,
    LaneOptions,
    CapacityOptions,
    RetryOptions,
    DeadLetterOptions,
    ResultOptions {
  leaseMs: number;
  ttlMs?: number | undefined;
  /** Jobs of one lane go out one by one, in order, each when the one ahead has ended. */
  ordered?: boolean | undefined;
  paused: boolean;
  /** What fills in the options of jobs before they are added: carried for those who do. */
  policy?: object | undefined;
}

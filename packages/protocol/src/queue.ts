import type { FairnessKey, QueueRetryPolicy } from "./job.ts";
import type { QueuePolicy } from "./policy.ts";

export type OnFull = "reject" | "drop" | "spill" | "wait";

export interface TierConfig {
  name: string;
  /** Jobs ready or gated in this tier; absent: only the queue's capacity counts. */
  capacity?: number | undefined;
  /** Jobs ready or gated that one key may have in this tier; absent: only `capacity.perLane`. */
  perLane?: number | undefined;
  /** Tier index that takes the overflow under `onFull: "spill"`; absent: the next one. */
  spillTo?: number | undefined;
}

/** What an operator says of a queue; what is absent keeps its value, or the default. */
export interface QueueOptions {
  /** How many, or their names; 0 is the most urgent. Default 4. */
  tiers?: number | readonly (string | Partial<TierConfig>)[];
  /** `strict` (default), or one weight per tier. */
  tierOrder?: "strict" | readonly number[];
  /** A waiting job moves up one tier after this long; null: never. */
  promoteAfterMs?: number | null;
  /** False: first in, first out inside a tier. Default true. */
  fairness?: boolean;
  /** Weights of lanes by key, or by a prefix that ends in `*`. */
  weights?: Readonly<Record<string, number>>;
  /** The queue's weight behind gates it shares with other queues. Default 1. */
  weight?: number;
  capacity?: {
    jobs?: number;
    bytes?: number;
    perLane?: number | null;
    delayed?: number;
    running?: number;
  };
  onFull?: OnFull;
  /** How long an add waits for room under `onFull: "wait"`. Default 5,000. */
  addTimeoutMs?: number;
  fullRetryMs?: number;
  admission?: { fill: number; rate: number; burst?: number };
  leaseMs?: number;
  retry?: Partial<QueueRetryPolicy>;
  /** Name of the dead letter queue; false: drop and count. Default `<queue>.dlq`. */
  dlq?: string | false;
  /** Dead letters in this queue end as expired after this long; null: they stay (default). */
  retentionMs?: number | null;
  results?: { jobs?: number; ms?: number };
  ttlMs?: number;
  paused?: boolean;
  /** What jobs are told when their producer does not say; replaced as a whole, null: none. */
  policy?: QueuePolicy | null;
  /**
   * Over how many partitions of a cluster the jobs are divided, by the first level of their
   * fairness key. It only grows. A broker that is no cluster knows 1 alone.
   */
  spread?: number;
}

/** A queue's options with every default filled in. */
export interface QueueConfig {
  tiers: readonly TierConfig[];
  tierOrder: "strict" | readonly number[];
  promoteAfterMs?: number | undefined;
  fairness: boolean;
  weights: Readonly<Record<string, number>>;
  weight: number;
  capacity: {
    jobs: number;
    bytes: number;
    perLane?: number | undefined;
    delayed: number;
    running: number;
  };
  onFull: OnFull;
  addTimeoutMs: number;
  fullRetryMs: number;
  admission?: { fill: number; rate: number; burst: number } | undefined;
  leaseMs: number;
  retry: QueueRetryPolicy;
  dlq: string | false;
  retentionMs?: number | undefined;
  results: { jobs: number; ms: number };
  ttlMs?: number | undefined;
  paused: boolean;
  policy?: QueuePolicy | undefined;
  /** In a cluster, when more than one partition holds the queue. */
  spread?: number | undefined;
}

export interface QueueStats {
  name: string;
  waiting: number;
  delayed: number;
  running: number;
  /** Ended jobs that can still be asked for. */
  kept: number;
  bytes: number;
  lanes: number;
  perTier: readonly { name: string; waiting: number; running: number }[];
  added: number;
  dispatched: number;
  finished: number;
  failed: number;
  retried: number;
  expired: number;
  cancelled: number;
  dead: number;
  /** Dead jobs that came back to the queue. */
  redriven: number;
  dropped: number;
  rejected: number;
  freeWorkers: number;
  paused: boolean;
}

export interface QueueInfo {
  name: string;
  config: QueueConfig;
  stats: QueueStats;
}

export interface LaneStats {
  key: FairnessKey;
  tier: number;
  weight: number;
  waiting: number;
  running: number;
  /** Cost dispatched since the lane was last created. */
  received: number;
  /** The part of its tier that its weight is due among the lanes that wait now, 0 to 1. */
  shareOwed: number;
  /** The part that it has received of all that the lanes of its tier have, 0 to 1. */
  shareReceived: number;
}

/** By what lanes are listed, the largest first. */
export type LaneSort = "waiting" | "running" | "received" | "weight";

export interface WorkerInfo {
  name: string;
  queue: string;
  /** Jobs it would take now. */
  free: number;
  running: number;
}

/** A page of a list; `cursor` is absent on the last one. */
export interface Page<T> {
  items: readonly T[];
  cursor?: string;
}

import type { FairnessKey } from "./job.ts";
import type { QueueSettings } from "./options/queue-options.ts";

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
  config: QueueSettings;
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

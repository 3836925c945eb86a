import type { LaneStats as EngineLaneStats, QueueStats } from "@sluice/engine";
import type { QueueSettings } from "./options/queue-options.ts";

export type { QueueStats } from "@sluice/engine";

export interface QueueInfo {
  name: string;
  config: QueueSettings;
  stats: QueueStats;
}

export interface LaneStats extends EngineLaneStats {
  /** The part of its tier that its weight is due among the lanes that wait now, 0 to 1. */
  shareOwed: number;
  /** The part that it has received of all that the lanes of its tier have, 0 to 1. */
  shareReceived: number;
  /** How long its last jobs waited once they were due, the mean; only of the busiest lanes. */
  wait?: number;
}

/** By what lanes are listed, the largest first. */
export type LaneSort = "waiting" | "running" | "received" | "weight";

export interface WorkerInfo {
  name: string;
  queue: string;
  /** Jobs it would take now. */
  free: number;
  running: number;
  /** Where it runs; absent when it does not say, as one that polls. */
  place?: WorkerPlace;
  /** When it connected; absent for one that polls. */
  since?: number;
  /** The jobs that it has held longest, those first; absent when they were not asked for. */
  jobs?: readonly HeldJob[];
}

/** A job that a worker holds. */
export interface HeldJob {
  id: string;
  /** 0 on the first delivery. */
  attempt: number;
  /** When it was dispatched to the worker. */
  since: number;
  /** When the lease ends. */
  expiresAt: number;
}

export interface WorkerPlace {
  host: string;
  /** The number of its process. */
  process: number;
  /** Its version of Sluice. */
  version: string;
}

/** A page of a list; `cursor` is absent on the last one. */
export interface Page<T> {
  items: readonly T[];
  cursor?: string;
}

// One queue as the model sees it: its jobs by state, its workers, its keys and its counters.

import type { QueueConfig } from "@sluice/engine";
import type { ModelJob } from "./job.ts";
import { QueueOrder } from "./order.ts";

export interface KeyHolder {
  readonly id: number;
  // For `window`: when the key is free again.
  readonly until: number | undefined;
}

export class ModelQueue {
  readonly name: string;
  config: QueueConfig;
  readonly waiting = new Set<ModelJob>();
  readonly delayed = new Set<ModelJob>();
  readonly leased = new Set<ModelJob>();
  // Ended jobs that are still remembered, in the order of their ends.
  readonly kept: ModelJob[] = [];
  readonly workers = new Map<string, number>();
  readonly keys = new Map<string, KeyHolder>();
  readonly counts = {
    added: 0,
    dispatched: 0,
    finished: 0,
    failed: 0,
    retried: 0,
    expired: 0,
    cancelled: 0,
    dead: 0,
    redriven: 0,
    dropped: 0,
    rejected: 0,
  };
  // Made by the first dead letter that came to it.
  isForDeadLetters = false;
  // Only where the world lets the order be foretold exactly.
  readonly order: QueueOrder | undefined;
  // Tokens of the admission bucket, in thousandths, and when they were counted.
  admission: { milli: number; at: number } | undefined;

  constructor(name: string, config: QueueConfig, isExact: boolean) {
    this.name = name;
    this.config = config;
    this.order = isExact ? new QueueOrder(config) : undefined;
  }

  get slots(): number {
    let slots = 0;
    for (const free of this.workers.values()) slots += free;
    return slots;
  }

  // Whether a job of this queue could be handed out if its gates let it.
  get isFree(): boolean {
    return !this.config.paused && this.slots > 0 && this.leased.size < this.config.capacity.running;
  }

  get bytes(): number {
    let bytes = 0;
    for (const job of this.waiting) bytes += job.size;
    return bytes;
  }

  waitingIn(tier: number): number {
    let count = 0;
    for (const job of this.waiting) if (job.tier === tier) count += 1;
    return count;
  }

  // In one tier, or in all of them.
  waitingUnder(lane: string, tier?: number): number {
    let count = 0;
    for (const job of this.waiting) {
      if (job.lane === lane && (tier === undefined || job.tier === tier)) count += 1;
    }
    return count;
  }
}

// Whether a delayed job that falls due finds room in its own tier. What its key has waiting does
// not count: it was let in when it was added.
export function hasRoomFor(queue: ModelQueue, job: Pick<ModelJob, "tier" | "size">): boolean {
  const { capacity, tiers } = queue.config;
  return (
    queue.waiting.size < capacity.jobs &&
    queue.bytes + job.size <= capacity.bytes &&
    queue.waitingIn(job.tier) < (tiers[job.tier]?.capacity ?? Infinity)
  );
}

// Where a job goes: its tier, or another by spilling, or nowhere.
export function tierWithRoom(
  queue: ModelQueue,
  job: Pick<ModelJob, "tier" | "lane" | "size">,
  spills: boolean,
): number | undefined {
  const { capacity, tiers } = queue.config;
  if (queue.waiting.size >= capacity.jobs) return undefined;
  if (queue.bytes + job.size > capacity.bytes) return undefined;
  if (queue.waitingUnder(job.lane) >= (capacity.perLane ?? Infinity)) return undefined;
  const tried = new Set<number>();
  for (let tier = job.tier; tier < tiers.length && !tried.has(tier); ) {
    const room = tiers[tier]!.capacity ?? Infinity;
    if (queue.waitingIn(tier) < room) {
      const isFull = queue.waitingUnder(job.lane, tier) >= (tiers[tier]!.perLane ?? Infinity);
      return isFull ? undefined : tier;
    }
    if (!spills) return undefined;
    tried.add(tier);
    tier = tiers[tier]!.spillTo ?? tier + 1;
  }
  return undefined;
}

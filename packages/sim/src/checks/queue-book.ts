// What the harness counts of one queue.

import type { QueueConfig } from "@sluice/engine";

export class QueueBook {
  readonly name: string;
  config: QueueConfig;
  waiting = 0;
  delayed = 0;
  leased = 0;
  bytes = 0;
  readonly waitingAt: number[] = [];
  readonly leasedAt: number[] = [];
  // Waiting jobs without gates, by tier.
  readonly ungatedAt: number[] = [];
  // Waiting jobs by lane, over all tiers.
  readonly lanes = new Map<string, number>();

  constructor(name: string, config: QueueConfig) {
    this.name = name;
    this.config = config;
    this.#makeTiers();
  }

  configure(config: QueueConfig): void {
    this.config = config;
    this.#makeTiers();
  }

  #makeTiers(): void {
    while (this.waitingAt.length < this.config.tiers.length) {
      this.waitingAt.push(0);
      this.leasedAt.push(0);
      this.ungatedAt.push(0);
    }
  }

  setWeight(path: readonly string[], weight: number): void {
    const weights = { ...this.config.weights, [path.join("/")]: weight };
    this.config = { ...this.config, weights };
  }

  // The weight that the policy gives a lane; the rules here name whole keys.
  weightOf(path: readonly string[]): number {
    return this.config.weights[path.join("/")] ?? 1;
  }

  // Why there is no room for a job that would wait at once; undefined: there is.
  fullFor(sizeBytes: number, lane: string, tier: number): string | undefined {
    const { jobs, bytes, perLane } = this.config.capacity;
    if (this.waiting >= jobs) return "jobs";
    if (this.bytes + sizeBytes > bytes) return "bytes";
    if ((this.lanes.get(lane) ?? 0) >= (perLane ?? Infinity)) return "perLane";
    return this.tierFor(tier) === undefined ? "tier" : undefined;
  }

  // The tier that takes a job which wants this one; undefined: none has room.
  tierFor(wanted: number): number | undefined {
    let tier = wanted;
    for (let tries = 0; tries < this.config.tiers.length; tries++) {
      const { capacity, spillTo } = this.config.tiers[tier]!;
      if (this.waitingAt[tier]! < (capacity ?? Infinity)) return tier;
      if (this.config.onFull !== "spill") return undefined;
      tier = spillTo ?? tier + 1;
      if (tier >= this.config.tiers.length) return undefined;
    }
    return undefined;
  }
}

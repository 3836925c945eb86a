// The options of a queue, with the defaults filled in.

import type { QueueConfig, TierConfig } from "@sluice/engine";

type Part<T> = { [N in keyof T]?: T[N] | undefined };

// What a plan says of a queue, in the engine's words.
export type QueueOptions = Omit<Part<QueueConfig>, "tiers" | "capacity" | "retry" | "results"> & {
  tiers?: number | readonly (string | Partial<TierConfig>)[] | undefined;
  capacity?: Part<QueueConfig["capacity"]>;
  retry?: Partial<QueueConfig["retry"]>;
  results?: Partial<QueueConfig["results"]>;
};

const DEFAULT_TIERS = 4;

export function policyOf(name: string, options: QueueOptions): QueueConfig {
  return {
    tiers: tiersOf(options.tiers ?? DEFAULT_TIERS),
    tierOrder: options.tierOrder ?? "strict",
    promoteAfterMs: options.promoteAfterMs ?? undefined,
    fairness: options.fairness ?? true,
    weights: options.weights ?? {},
    weight: options.weight ?? 1,
    capacity: {
      jobs: 1_000_000,
      bytes: 1 << 30,
      delayed: 1_000_000,
      blocked: 1_000_000,
      running: 1_000_000,
      ...(options.capacity as Partial<QueueConfig["capacity"]>),
      perLane: options.capacity?.perLane ?? undefined,
    },
    onFull: options.onFull ?? "reject",
    addTimeoutMs: options.addTimeoutMs ?? 5_000,
    fullRetryMs: options.fullRetryMs ?? 10_000,
    admission: options.admission,
    leaseMs: options.leaseMs ?? 30_000,
    retry: {
      attempts: 5,
      minMs: 1_000,
      maxMs: 300_000,
      factor: 2,
      jitter: 0.2,
      deliveries: 250,
      ...options.retry,
    },
    dlq: options.dlq ?? `${name}.dlq`,
    retentionMs: options.retentionMs ?? undefined,
    results: { jobs: 1_000, ms: 600_000, ...options.results },
    ttlMs: options.ttlMs ?? undefined,
    paused: options.paused ?? false,
  };
}

function tiersOf(tiers: NonNullable<QueueOptions["tiers"]>): TierConfig[] {
  if (typeof tiers === "number") {
    return Array.from({ length: tiers }, (_, tier) => ({ name: String(tier) }));
  }
  return tiers.map((tier, index) =>
    typeof tier === "string" ? { name: tier } : { ...tier, name: tier.name ?? String(index) },
  );
}

import { COUNT, FLAG, list, MS, NAME, NUMBER, object, type Schema, TEXT } from "./shapes.ts";

const NULLABLE_MS: Schema = { type: ["number", "null"], minimum: 0 };

const TIER: Schema = known({ name: TEXT, capacity: COUNT, perLane: COUNT, spillTo: COUNT });

const RETRY: Schema = known({
  attempts: COUNT,
  minMs: MS,
  maxMs: MS,
  factor: NUMBER,
  jitter: NUMBER,
  deliveries: COUNT,
});

/** Fields that are known here; others the broker refuses, or knows of. */
function known(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema {
  return { ...object(properties, required), additionalProperties: true };
}

/**
 * What a queue may be told. The types are checked here; what the values mean, and fields that are
 * not known, are the broker's to judge, in the same words as everywhere.
 */
export const QUEUE_OPTIONS: Schema = {
  type: "object",
  properties: {
    tiers: { anyOf: [COUNT, list({ anyOf: [TEXT, TIER] })] },
    tierOrder: { anyOf: [{ type: "string", const: "strict" }, list(NUMBER)] },
    promoteAfterMs: NULLABLE_MS,
    fairness: FLAG,
    weights: { type: "object", additionalProperties: NUMBER },
    weight: NUMBER,
    capacity: known({
      jobs: COUNT,
      bytes: COUNT,
      perLane: { type: ["integer", "null"], minimum: 0 },
      delayed: COUNT,
      running: COUNT,
    }),
    onFull: { type: "string", enum: ["reject", "drop", "spill", "wait"] },
    addTimeoutMs: MS,
    fullRetryMs: MS,
    admission: known({ fill: NUMBER, rate: NUMBER, burst: NUMBER }, ["fill", "rate"]),
    leaseMs: MS,
    retry: RETRY,
    dlq: { anyOf: [NAME, { type: "boolean", const: false }] },
    retentionMs: {
      ...NULLABLE_MS,
      description: "Dead letters in this queue end as expired after this long; null: they stay.",
    },
    results: known({ jobs: COUNT, ms: MS }),
    ttlMs: MS,
    paused: FLAG,
    spread: { ...COUNT, description: "In a cluster: over how many partitions; it only grows." },
    policy: {
      type: ["object", "null"],
      description: "Templates, and `lua`; docs/policies.md tells its fields. `null` removes it.",
    },
  },
};

const STATS: Schema = object({
  name: NAME,
  waiting: COUNT,
  delayed: COUNT,
  running: COUNT,
  kept: COUNT,
  bytes: COUNT,
  lanes: COUNT,
  perTier: list(object({ name: TEXT, waiting: COUNT, running: COUNT })),
  added: COUNT,
  dispatched: COUNT,
  finished: COUNT,
  failed: COUNT,
  retried: COUNT,
  expired: COUNT,
  cancelled: COUNT,
  dead: COUNT,
  redriven: COUNT,
  dropped: COUNT,
  rejected: COUNT,
  freeWorkers: COUNT,
  paused: FLAG,
});

export const QUEUE: Schema = object({ name: NAME, config: QUEUE_OPTIONS, stats: STATS }, [
  "name",
  "config",
  "stats",
]);

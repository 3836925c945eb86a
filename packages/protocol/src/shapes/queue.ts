import type { QueueDeleted } from "../calls/options.ts";
import type { Schema } from "../kinds.ts";
import type {
  LaneStats,
  QueueInfo,
  QueueOptions,
  QueueStats,
  TierConfig,
  WorkerInfo,
} from "../queue.ts";
import {
  about,
  COUNT,
  choice,
  FAIRNESS_KEY,
  type Fields,
  FLAG,
  list,
  MS,
  maybe,
  NAME,
  NUMBER,
  shape,
  TEXT,
} from "./schema.ts";

const NULLABLE_MS: Schema = { type: ["number", "null"], minimum: 0 };

/** Fields that are known here; the broker refuses others, in the same words as everywhere. */
function open<T>(fields: Fields<T>): Schema {
  return { ...shape<T>(fields), additionalProperties: true };
}

type Part<K extends keyof QueueOptions> = NonNullable<QueueOptions[K]>;

/** What a queue may be told. The types are checked here; what the values mean, by the broker. */
export const QUEUE_OPTIONS: Schema = open<QueueOptions>({
  tiers: maybe({
    anyOf: [
      COUNT,
      list({
        anyOf: [
          TEXT,
          open<Partial<TierConfig>>({
            name: maybe(TEXT),
            capacity: maybe(COUNT),
            perLane: maybe(COUNT),
            spillTo: maybe(COUNT),
          }),
        ],
      }),
    ],
  }),
  tierOrder: maybe({ anyOf: [{ type: "string", const: "strict" }, list(NUMBER)] }),
  promoteAfterMs: maybe(NULLABLE_MS),
  fairness: maybe(FLAG),
  weights: maybe({ type: "object", additionalProperties: NUMBER }),
  weight: maybe(NUMBER),
  capacity: maybe(
    open<Part<"capacity">>({
      jobs: maybe(COUNT),
      bytes: maybe(COUNT),
      perLane: maybe({ type: ["integer", "null"], minimum: 0 }),
      delayed: maybe(COUNT),
      running: maybe(COUNT),
    }),
  ),
  onFull: maybe(choice(["reject", "drop", "spill", "wait"])),
  addTimeoutMs: maybe(MS),
  fullRetryMs: maybe(MS),
  admission: maybe(open<Part<"admission">>({ fill: NUMBER, rate: NUMBER, burst: maybe(NUMBER) })),
  leaseMs: maybe(MS),
  retry: maybe(
    open<Part<"retry">>({
      attempts: maybe(COUNT),
      minMs: maybe(MS),
      maxMs: maybe(MS),
      factor: maybe(NUMBER),
      jitter: maybe(NUMBER),
      deliveries: maybe(COUNT),
    }),
  ),
  dlq: maybe({ anyOf: [NAME, { type: "boolean", const: false }] }),
  retentionMs: maybe(
    about(
      "Dead letters in this queue end as expired after this long; null: they stay.",
      NULLABLE_MS,
    ),
  ),
  results: maybe(open<Part<"results">>({ jobs: maybe(COUNT), ms: maybe(MS) })),
  ttlMs: maybe(MS),
  paused: maybe(FLAG),
  policy: maybe({
    type: ["object", "null"],
    description: "Templates, and `lua`; docs/policies.md has its fields. `null` removes it.",
  }),
  spread: maybe(about("In a cluster: over how many partitions; it only grows.", COUNT)),
});

const STATS: Schema = shape<QueueStats>({
  name: NAME,
  waiting: COUNT,
  delayed: COUNT,
  running: COUNT,
  kept: about("Ended jobs that can still be asked for.", COUNT),
  bytes: COUNT,
  lanes: COUNT,
  perTier: list(
    shape<QueueStats["perTier"][number]>({ name: TEXT, waiting: COUNT, running: COUNT }),
  ),
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

export const QUEUE: Schema = shape<QueueInfo>({ name: NAME, config: QUEUE_OPTIONS, stats: STATS });

export const DELETED: Schema = shape<QueueDeleted>({ lettersKept: COUNT, lettersDeleted: COUNT });

const SHARE: Schema = { type: "number", minimum: 0, maximum: 1 };

export const LANE: Schema = shape<LaneStats>({
  key: FAIRNESS_KEY,
  tier: COUNT,
  weight: NUMBER,
  waiting: COUNT,
  running: COUNT,
  received: NUMBER,
  shareOwed: about("By its weight, among the lanes of its tier that wait.", SHARE),
  shareReceived: about("Of all that the lanes of its tier have received.", SHARE),
});

export const WORKER: Schema = shape<WorkerInfo>({
  name: TEXT,
  queue: NAME,
  free: about("Jobs it would take now.", COUNT),
  running: COUNT,
});

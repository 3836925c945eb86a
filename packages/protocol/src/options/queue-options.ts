/** What a queue can be given; what is not given keeps its value, or the default. */
import type { QueueConfig, TierConfig } from "@sluice/engine";
import { duration, LEASE } from "../duration.ts";
import { type AnsweredFields, type Fields, fields, type GivenFields } from "../fields.ts";
import {
  answerOf,
  FLAG,
  integer,
  invalid,
  isObject,
  type Kind,
  list,
  NAME,
  nullable,
  number,
  oneOf,
} from "../kinds.ts";
import * as limits from "../limits.ts";
import { fitsBytes } from "../names.ts";
import { POLICY } from "./policy-options.ts";
import { QUEUE_RETRY } from "./retry-options.ts";

const { CAPACITY_JOBS_MAX, NAME_BYTES_MAX, TIERS_MAX, WEIGHT_MAX } = limits;

const JOBS = integer(1, CAPACITY_JOBS_MAX);

const TIER_OPTIONS = {
  name: { kind: NAME, reckoned: "its index", text: "How jobs name it as their priority." },
  capacity: { kind: JOBS, text: "Jobs that wait in this tier; else only the queue's bounds hold." },
  perLane: { kind: JOBS, text: "Jobs of one key that wait in this tier." },
  spillTo: {
    kind: integer(0, TIERS_MAX - 1),
    reckoned: "the next one",
    text: 'The less urgent tier, by index, that takes the overflow under `onFull: "spill"`.',
  },
} as const satisfies Fields;

const TIER = fields(TIER_OPTIONS);

/** `"fast"` is short for `{ name: "fast" }`; tiers that were only counted are named by index. */
const TIERS: Kind<
  readonly TierConfig[],
  number | readonly (string | GivenFields<typeof TIER_OPTIONS>)[]
> = {
  parts: TIER_OPTIONS,
  words: `an integer or an array from 1 to ${TIERS_MAX}: how many, or their names`,
  schema: {
    anyOf: [
      { type: "integer", minimum: 1, maximum: TIERS_MAX },
      {
        type: "array",
        items: { anyOf: [NAME.schema, TIER.schema] },
        minItems: 1,
        maxItems: TIERS_MAX,
      },
    ],
  },
  parse(field, value) {
    if (!Array.isArray(value)) return numberedTiers(integer(1, TIERS_MAX).parse(field, value));
    if (value.length < 1 || value.length > TIERS_MAX) {
      throw invalid(field, `an array of 1 to ${TIERS_MAX} items`, value.length);
    }
    const tiers = value.map((one, i) => parseTier(`${field}[${i}]`, one, i));
    for (const [i, tier] of tiers.entries()) checkTier(`${field}[${i}]`, tier, i, tiers);
    return tiers;
  },
};

function numberedTiers(count: number): TierConfig[] {
  return Array.from({ length: count }, (_, index) => ({ name: String(index) }));
}

function parseTier(field: string, value: unknown, index: number): TierConfig {
  if (typeof value === "string") return { name: NAME.parse(field, value) };
  const { name = String(index), ...rest } = TIER.parse(field, value);
  return { name, ...rest };
}

function checkTier(
  field: string,
  { name, spillTo }: TierConfig,
  index: number,
  tiers: readonly TierConfig[],
): void {
  if (tiers.findIndex((other) => other.name === name) !== index) {
    throw invalid(field, "a tier with a unique name", name);
  }
  // Only downwards, so that no overflow runs in a circle.
  if (spillTo !== undefined && (spillTo <= index || spillTo >= tiers.length)) {
    throw invalid(`${field}.spillTo`, "the index of a less urgent tier", spillTo);
  }
}

const TIER_WEIGHTS = list(integer(1, WEIGHT_MAX), TIERS_MAX, 1);

const TIER_ORDER: Kind<"strict" | readonly number[]> = {
  words: '"strict", or an array of one weight for each tier',
  schema: { anyOf: [{ type: "string", const: "strict" }, TIER_WEIGHTS.schema] },
  parse(field, value) {
    if (value === "strict") return value;
    if (!Array.isArray(value)) throw invalid(field, TIER_ORDER.words, value);
    return TIER_WEIGHTS.parse(field, value);
  },
};

const WEIGHT = integer(1, WEIGHT_MAX);

const WEIGHTS: Kind<Readonly<Record<string, number>>> = {
  words: `an object of at most ${limits.WEIGHT_RULES_MAX} weights`,
  schema: { type: "object", additionalProperties: WEIGHT.schema },
  parse(field, value) {
    if (!isObject(value)) throw invalid(field, "an object", value);
    const rules = Object.entries(value);
    if (rules.length > limits.WEIGHT_RULES_MAX) throw invalid(field, WEIGHTS.words, rules.length);
    // Without a prototype: a tenant may be called "constructor".
    const weights: Record<string, number> = Object.create(null);
    for (const [key, weight] of rules) {
      if (!fitsBytes(key, limits.WEIGHT_RULE_BYTES_MAX)) {
        const wanted = `an object of keys up to ${limits.WEIGHT_RULE_BYTES_MAX} bytes`;
        throw invalid(field, wanted, key);
      }
      weights[key] = WEIGHT.parse(`${field}[${JSON.stringify(key)}]`, weight);
    }
    return weights;
  },
};

const CAPACITY_OPTIONS = {
  jobs: { kind: JOBS, default: 1_000_000, text: "Jobs that wait." },
  bytes: {
    kind: integer(1, limits.CAPACITY_BYTES_MAX),
    default: 2 ** 30,
    text: "Bytes of payloads and headers.",
  },
  perLane: { kind: nullable(JOBS), text: "Jobs of one key that wait; null for no such bound." },
  delayed: {
    kind: integer(0, CAPACITY_JOBS_MAX),
    default: 1_000_000,
    text: "Jobs that are not due yet.",
  },
  blocked: {
    kind: integer(0, CAPACITY_JOBS_MAX),
    default: 1_000_000,
    text: "Jobs that wait for other jobs.",
  },
  running: { kind: JOBS, default: 1_000_000, text: "Jobs that run at once." },
} as const satisfies Fields;

export const ADMISSION_OPTIONS = {
  fill: {
    kind: number(0, 1),
    isRequired: true,
    text: "How full the queue must be, as a fraction of `capacity.jobs`.",
  },
  rate: {
    kind: number(limits.RATE_MIN, limits.RATE_MAX),
    isRequired: true,
    text: "Jobs per second that are then accepted.",
  },
  burst: {
    kind: number(1, limits.BURST_MAX),
    reckoned: "the larger of 1 and `rate`",
    text: "Jobs that are accepted at once.",
  },
} as const satisfies Fields;

const ADMISSION_FIELDS = fields(ADMISSION_OPTIONS);

const ADMISSION: Kind<
  NonNullable<QueueConfig["admission"]>,
  GivenFields<typeof ADMISSION_OPTIONS>
> = {
  words: ADMISSION_FIELDS.words,
  parts: ADMISSION_OPTIONS,
  schema: ADMISSION_FIELDS.schema,
  parse(field, value) {
    const { fill, rate, burst = Math.max(1, rate) } = ADMISSION_FIELDS.parse(field, value);
    return { fill, rate, burst };
  },
};

const DLQ: Kind<string | false> = {
  words: `${NAME.words}, or false`,
  schema: { anyOf: [NAME.schema, { type: "boolean", const: false }] },
  parse: (field, value) => (value === false ? value : NAME.parse(field, value)),
};

const RESULTS_OPTIONS = {
  jobs: {
    kind: integer(0, limits.RESULTS_JOBS_MAX),
    default: 100_000,
    text: "How many at most; all queues share the budget of the broker.",
  },
  ttl: { kind: duration(), as: "ms", default: "24h", text: "For how long." },
} as const satisfies Fields;

export const QUEUE_OPTIONS = {
  tiers: { kind: TIERS, default: 4, text: "How many, or their names; the first is most urgent." },
  tierOrder: {
    kind: TIER_ORDER,
    default: "strict",
    text: "`strict`: a tier runs when those before it are empty. Weights share the workers.",
  },
  promoteAfter: {
    kind: nullable(duration(1)),
    as: "promoteAfterMs",
    text: "A waiting job moves up one tier after this long; null for never.",
  },
  fairness: {
    kind: FLAG,
    default: true,
    text: "False: first in, first out within a tier, whatever the key.",
  },
  ordered: {
    kind: FLAG,
    default: false,
    text:
      "Jobs with one fairness key and priority run one by one, in the order in which they were " +
      "added: each waits until the one ahead has ended or is dead.",
  },
  weights: {
    kind: WEIGHTS,
    default: {},
    text: "Weights of lanes by key, or by a prefix that ends in `*`.",
  },
  weight: { kind: WEIGHT, default: 1, text: "The queue's weight at gates that queues share." },
  capacity: { kind: fields(CAPACITY_OPTIONS), default: {}, text: "How much the queue holds." },
  onFull: {
    kind: oneOf(["reject", "drop", "spill", "wait"]),
    default: "reject",
    text: "What happens to a job that is added to a full queue.",
  },
  addTimeout: {
    kind: duration(),
    as: "addTimeoutMs",
    default: "5s",
    text: 'How long an add waits for room under `onFull: "wait"`.',
  },
  fullRetry: {
    kind: duration(1),
    as: "fullRetryMs",
    default: "10s",
    text: "How long a delayed job that is due is put off when the queue is full.",
  },
  admission: {
    kind: nullable(ADMISSION),
    text: "A token bucket for adds while the queue is fuller than `fill`; null for none.",
  },
  lease: {
    kind: LEASE,
    as: "leaseMs",
    default: "30s",
    text: "How long a worker may hold a job without a sign of life.",
  },
  retry: { kind: QUEUE_RETRY, default: {}, text: "How failures are retried." },
  dlq: {
    kind: DLQ,
    reckoned: "`<queue>.dlq`",
    text: "Name of the dead letter queue; false drops and counts jobs that fail for good.",
  },
  retention: {
    kind: nullable(duration(1)),
    as: "retentionMs",
    text: "Dead letters in this queue expire after this long; null: they stay.",
  },
  results: {
    kind: fields(RESULTS_OPTIONS),
    default: {},
    text: "Ended jobs that are kept with their results.",
  },
  ttl: {
    kind: nullable(duration(1)),
    as: "ttlMs",
    text: "Jobs that have not ended this long after they were added expire; null: they do not.",
  },
  paused: { kind: FLAG, default: false, text: "No job is delivered; adds still work." },
  policy: {
    kind: nullable(POLICY),
    text: "Options for jobs whose producer does not give them; replaced as a whole, null for none.",
  },
  spread: {
    kind: integer(1, Number.MAX_SAFE_INTEGER),
    text:
      "In a cluster: over how many partitions the jobs are divided, by the first level of their " +
      "fairness key. It only grows.",
  },
} as const satisfies Fields;

/** What a queue can be given, as data. */
export interface QueueOptions extends GivenFields<typeof QUEUE_OPTIONS> {}

/** All options of a queue as they are answered: durations are milliseconds. */
export interface QueueSettings extends AnsweredFields<typeof QUEUE_OPTIONS> {
  dlq: string | false;
}

const QUEUE = fields(QUEUE_OPTIONS, ({ tiers, tierOrder }, field) => {
  if (tierOrder === "strict" || tierOrder.length === tiers.length) return;
  const wanted = `"strict" or an array of ${tiers.length} weights, one for each tier`;
  throw invalid(`${field}.tierOrder`, wanted, `${tierOrder.length} weights`);
});

export const QUEUE_SCHEMA = QUEUE.schema;

const DLQ_SUFFIX = ".dlq";

/** The whole configuration, and `spread`, which is for a cluster to act on. */
export function parseQueue(
  name: string,
  options: unknown,
  base?: QueueConfig,
): { config: QueueConfig; spread: number | undefined } {
  NAME.parse("queue.name", name);
  const given = options === undefined ? {} : options;
  const { spread, dlq, ...parsed } = QUEUE.merge!("queue", given, (base ?? {}) as never);
  if (dlq === name) throw invalid("queue.dlq", "the name of another queue", dlq);
  return { config: { ...parsed, dlq: dlq ?? defaultDlq(name) }, spread };
}

/** A queue made for dead letters. A name that leaves no room for the suffix has no `dlq`. */
export function letterQueueConfig(name: string): QueueConfig {
  const hasRoom = name.length + DLQ_SUFFIX.length <= NAME_BYTES_MAX;
  return parseQueue(name, hasRoom ? {} : { dlq: false }).config;
}

export function answerQueue(config: QueueConfig): QueueSettings {
  return { ...answerOf(QUEUE, config as never), dlq: config.dlq };
}

/** The dead letters of a dead letter queue go nowhere, or there would be no end of queues. */
function defaultDlq(name: string): string | false {
  if (name.endsWith(DLQ_SUFFIX)) return false;
  const dlq = name + DLQ_SUFFIX;
  if (dlq.length <= NAME_BYTES_MAX) return dlq;
  throw invalid("queue.dlq", `given: the default name is longer than ${NAME_BYTES_MAX} bytes`, dlq);
}

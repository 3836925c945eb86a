/** How failures are retried: the policy of a queue, and a job's changes to it. */
import { duration } from "../duration.ts";
import { type Fields, fields, type GivenFields } from "../fields.ts";
import { integer, invalid, number } from "../kinds.ts";
import { ATTEMPTS_MAX, DELIVERIES_MAX, FACTOR_MAX } from "../limits.ts";

const RETRY_OPTIONS = {
  attempts: {
    kind: integer(1, ATTEMPTS_MAX),
    default: 5,
    text: "Failures after which the job is dead.",
  },
  min: { kind: duration(), as: "minMs", default: "1s", text: "Delay before the second delivery." },
  max: { kind: duration(), as: "maxMs", default: "5m", text: "No delay is longer than this." },
  factor: {
    kind: number(1, FACTOR_MAX),
    default: 2,
    text: "How much longer each delay is than the one before.",
  },
  jitter: {
    kind: number(0, 1),
    default: 0.2,
    text: "The fraction of the delay that is drawn at random.",
  },
} as const satisfies Fields;

/** How a step is retried, apart from its job. */
export const STEP_RETRY = fields(RETRY_OPTIONS);

const QUEUE_RETRY_OPTIONS = {
  ...RETRY_OPTIONS,
  deliveries: {
    kind: integer(1, DELIVERIES_MAX),
    default: 250,
    text: "Deliveries in all, also those that cost no attempt; dead letters have no such bound.",
  },
} as const satisfies Fields;

export interface QueueRetryOptions extends GivenFields<typeof QUEUE_RETRY_OPTIONS> {}

export const QUEUE_RETRY = fields(QUEUE_RETRY_OPTIONS, ({ minMs, maxMs }, field, given) => {
  if (minMs <= maxMs) return;
  throw invalid(`${field}.min`, `at most max (${maxMs})`, given.min ?? minMs);
});

const { min, max, factor, jitter } = RETRY_OPTIONS;

/** What a job changes of its queue's policy: the rest stays as the queue has it. */
const BACKOFF_OPTIONS = {
  min: { kind: min.kind, as: min.as, text: min.text },
  max: { kind: max.kind, as: max.as, text: max.text },
  factor: { kind: factor.kind, text: factor.text },
  jitter: { kind: jitter.kind, text: jitter.text },
} as const satisfies Fields;

export interface RetryOptions extends GivenFields<typeof BACKOFF_OPTIONS> {}

export const BACKOFF = fields(BACKOFF_OPTIONS);

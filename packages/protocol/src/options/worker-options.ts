/** What a worker, a consumption and their closing can be given. */
import { duration, LEASE } from "../duration.ts";
import { type Fields, fields, type GivenFields, type ParsedFields } from "../fields.ts";
import { integer, invalid, isObject, type Kind, kind, number } from "../kinds.ts";
import { BATCH_MAX, HANDLERS_MAX } from "../limits.ts";

const HANDLERS = integer(1, HANDLERS_MAX);

const WORKER_NAME: Kind<string> = kind(
  "a string that is not empty",
  { type: "string", minLength: 1 },
  (value) => typeof value === "string" && value !== "",
);

type Load = () => number | Promise<number>;

const LOAD: Kind<Load> = kind("a function", {}, (value) => typeof value === "function");

const ELASTIC_OPTIONS = {
  min: { kind: HANDLERS, isRequired: true, text: "The fewest handlers." },
  max: { kind: HANDLERS, isRequired: true, text: "The most handlers." },
  scaleUpAt: {
    kind: number(0, 1),
    default: 0.6,
    text: "One handler more when the load is at least this.",
  },
  scaleDownAt: {
    kind: number(0, 1),
    default: 0.4,
    text: "One handler fewer when the load is below this.",
  },
  load: {
    kind: LOAD,
    reckoned: "the share of busy handlers",
    text: "Another measure of the load, from 0 to 1, such as the fill of the queue.",
  },
} as const satisfies Fields;

const ELASTIC_FIELDS = fields(ELASTIC_OPTIONS, ({ min, max, scaleUpAt, scaleDownAt }, field) => {
  if (min > max) throw invalid(`${field}.min`, `at most ${field}.max (${max})`, min);
  if (scaleDownAt <= scaleUpAt) return;
  const wanted = `at most ${field}.scaleUpAt (${scaleUpAt})`;
  throw invalid(`${field}.scaleDownAt`, wanted, scaleDownAt);
});

/** As many handlers as the load asks for. */
export interface Elastic extends GivenFields<typeof ELASTIC_OPTIONS> {}

/** The rule with every default filled in. */
export interface ElasticRule extends ParsedFields<typeof ELASTIC_OPTIONS> {}

/** A number is short for as many at least as at most. */
const CONCURRENCY: Kind<ElasticRule, number | Elastic> = {
  words: `${HANDLERS.words}, or ${ELASTIC_FIELDS.words}`,
  schema: { anyOf: [HANDLERS.schema, ELASTIC_FIELDS.schema] },
  parts: ELASTIC_OPTIONS,
  parse(field, value) {
    if (isObject(value)) return ELASTIC_FIELDS.parse(field, value);
    const count = HANDLERS.parse(field, value);
    return { min: count, max: count, scaleUpAt: 1, scaleDownAt: 0 };
  },
};

const BATCH_OPTIONS = {
  max: {
    kind: integer(1, BATCH_MAX),
    default: 100,
    text: "The most jobs in one call of the handler.",
  },
  wait: {
    kind: duration(),
    as: "waitMs",
    default: "200ms",
    text: "How long the first job of a batch waits for more.",
  },
} as const satisfies Fields;

/** How a worker gathers jobs into batches. */
export interface BatchRule extends ParsedFields<typeof BATCH_OPTIONS> {}

const lease = {
  kind: LEASE,
  as: "leaseMs",
  reckoned: "the job's or the queue's",
  text: "How long the worker may hold a job without a sign of life.",
} as const;

const name = {
  kind: WORKER_NAME,
  reckoned: "the queue's name and a number",
  text: "How `workers()` and `why()` call it.",
} as const;

export const WORK_OPTIONS = {
  concurrency: { kind: CONCURRENCY, default: 1, text: "Handlers that run at once." },
  prefetch: {
    kind: integer(0, HANDLERS_MAX),
    default: 0,
    text: "Jobs held ready beyond those that run: fewer waits, less fairness.",
  },
  batch: {
    kind: fields(BATCH_OPTIONS),
    text: "The handler gets jobs in batches; each job has its own outcome.",
  },
  lease,
  name,
} as const satisfies Fields;

export const CONSUME_OPTIONS = {
  prefetch: {
    kind: HANDLERS,
    default: 10,
    text: "Jobs held at once, until each is acked, nacked or given back.",
  },
  lease,
  name,
} as const satisfies Fields;

export const CLOSE_OPTIONS = {
  timeout: {
    kind: duration(),
    as: "timeoutMs",
    default: "30s",
    text: "How long running handlers may take to end before they are aborted.",
  },
} as const satisfies Fields;

export interface WorkOptions extends GivenFields<typeof WORK_OPTIONS> {}
export interface ConsumptionOptions extends GivenFields<typeof CONSUME_OPTIONS> {}
export interface CloseOptions extends GivenFields<typeof CLOSE_OPTIONS> {}

export type Work = ParsedFields<typeof WORK_OPTIONS>;
export type ConsumptionWork = ParsedFields<typeof CONSUME_OPTIONS>;

const WORK = fields(WORK_OPTIONS);
const CONSUME = fields(CONSUME_OPTIONS);
const CLOSE = fields({ timeout: { ...CLOSE_OPTIONS.timeout, default: undefined } });

export function parseWork(options: unknown): Work {
  return WORK.parse("work", options);
}

export function parseConsume(options: unknown): ConsumptionWork {
  return CONSUME.parse("consume", options);
}

/** Undefined when no time is given. */
export function parseClose(options: unknown): number | undefined {
  return (CLOSE.parse("close", options) as { timeoutMs?: number }).timeoutMs;
}

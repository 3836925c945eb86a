/**
 * What a job can be told. Options become the form of the port where they enter: in the library and
 * in the HTTP route. There durations and times get their numbers; the ranges of what travels as it
 * is are checked once, by the broker, for every job that is added.
 */
import { duration, LEASE, TIME } from "../duration.ts";
import { type Fields, fields, type GivenFields } from "../fields.ts";
import { bytes, integer, type Kind, kind, list, NAME, oneOf, unknownField } from "../kinds.ts";
import * as limits from "../limits.ts";
import { A_GROUP, GROUP_PATTERN, isGroup } from "../names.ts";
import { BACKOFF } from "./retry-options.ts";

const { KEY_BYTES_MAX, PATH_LEVELS_MAX } = limits;

const LEVEL = bytes(KEY_BYTES_MAX);
const PATH = list(LEVEL, PATH_LEVELS_MAX, 1);

const FAIRNESS_KEY: Kind<string | readonly string[]> = {
  words: `${LEVEL.words}, or an array of 1 to ${PATH_LEVELS_MAX} of them`,
  schema: { anyOf: [LEVEL.schema, PATH.schema] },
  parse: (field, value) => (Array.isArray(value) ? PATH : LEVEL).parse(field, value),
};

const PRIORITY: Kind<number | string> = kind(
  "the index or the name of a tier",
  { type: ["integer", "string"] },
  (value) => typeof value === "string" || Number.isInteger(value),
);

const GROUP: Kind<string> = kind(A_GROUP, { type: "string", pattern: GROUP_PATTERN }, isGroup);

const HEADERS: Kind<Readonly<Record<string, string>>> = kind(
  "an object of texts",
  { type: "object", additionalProperties: { type: "string" } },
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
);

const DEDUPE_OPTIONS = {
  key: { kind: bytes(KEY_BYTES_MAX, 1), isRequired: true, text: "Jobs with the same key are one." },
  mode: {
    kind: oneOf(["pending", "window", "debounce", "replace", "keepLast"]),
    default: "pending",
    text: "For how long, and what a second job does to the first.",
  },
  window: { kind: duration(1), as: "windowMs", text: 'For the mode "window": how long.' },
} as const satisfies Fields;

export const JOB_OPTIONS = {
  fairnessKey: {
    kind: FAIRNESS_KEY,
    default: "",
    text: "Whose job it is: the lanes of a tier share the workers. An array is a path of levels.",
  },
  weight: {
    kind: integer(1, limits.WEIGHT_MAX),
    default: 1,
    text: "The share of the job's lane among the lanes of its tier.",
  },
  priority: {
    kind: PRIORITY,
    reckoned: "the last tier",
    text: "The tier, by index or name; 0 is the most urgent.",
  },
  gates: {
    kind: list(NAME, limits.JOB_GATES_MAX),
    text: "Gates that must all let the job pass before it is delivered.",
  },
  cost: {
    kind: integer(1, limits.COST_MAX),
    default: 1,
    text: "What the job takes from its gates and from its lane's share.",
  },
  delay: { kind: duration(), as: "delayMs", text: "How long the job waits before it is due." },
  runAt: { kind: TIME, text: "When the job is due, instead of a delay." },
  ttl: {
    kind: duration(),
    as: "ttlMs",
    reckoned: "the queue's",
    text: "The job expires unless it has ended this long after it was added.",
  },
  deadline: { kind: TIME, text: "When the job expires, instead of a ttl." },
  maxWait: {
    kind: duration(),
    as: "maxWaitMs",
    text: "The job fails at once when its gates would make it wait longer than this.",
  },
  dedupe: { kind: fields(DEDUPE_OPTIONS), text: "A second job with the same key is not added." },
  group: {
    kind: GROUP,
    text: "A group of this queue, or `queue/name` of another: jobs that are submitted together.",
  },
  headers: { kind: HEADERS, text: "Texts that travel with the job; policies read them." },
  attempts: {
    kind: integer(1, limits.ATTEMPTS_MAX),
    reckoned: "the queue's",
    text: "Deliveries in all, the first one included.",
  },
  backoff: { kind: BACKOFF, reckoned: "the queue's", text: "How failures are retried." },
  lease: {
    kind: LEASE,
    as: "leaseMs",
    reckoned: "the queue's",
    text: "How long a worker may hold the job without a sign of life.",
  },
} as const satisfies Fields;

export interface JobOptions extends GivenFields<typeof JOB_OPTIONS> {}

export const JOB_SCHEMA = fields(JOB_OPTIONS).schema;

/** Names of all options, in the order in which a policy is asked. */
export const JOB_FIELDS = Object.keys(JOB_OPTIONS) as readonly (keyof JobOptions)[];

/** They have another form inside. */
const CONVERTED: ReadonlySet<string> = new Set<keyof JobOptions>([
  ...(["delay", "runAt", "ttl", "deadline", "maxWait"] as const),
  ...(["dedupe", "backoff", "lease"] as const),
]);

interface Reading {
  readonly at: string;
  readonly field: string;
  readonly kind: Kind | undefined;
}

const READINGS: ReadonlyMap<string, Reading> = new Map(
  Object.entries(JOB_OPTIONS as Fields).map(([name, row]) => {
    const kind: Kind | undefined = CONVERTED.has(name) ? row.kind : undefined;
    return [name, { at: row.as ?? name, field: `job.${name}`, kind }];
  }),
);

/** Reads options into a job, which may have others; `undefined` is as if it were not given. */
export function readJob(job: object, options: object): void {
  for (const name in options) {
    const value = (options as Record<string, unknown>)[name];
    if (value === undefined || name === "payload") continue;
    const reading = READINGS.get(name);
    if (reading === undefined) throw unknownField(`job.${name}`, JOB_FIELDS, value);
    const { at, field, kind } = reading;
    (job as Record<string, unknown>)[at] = kind === undefined ? value : kind.parse(field, value);
  }
}

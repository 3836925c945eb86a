/**
 * What a job can be given. Options become the form of the port where they enter: in the library and
 * in the HTTP route (`readJob`). There durations and times get their numbers. The ranges are
 * checked once, behind the port, for every job that is added (`parseJob`): the engine trusts them.
 */
import type { FairnessKey, JobSpec } from "@sluice/engine";
import { duration, LEASE, TIME } from "../duration.ts";
import { type Fields, fields, type GivenFields } from "../fields.ts";
import type { NewJob } from "../job.ts";
import {
  answerOf,
  bytes,
  checkParsed,
  FLAG,
  integer,
  invalid,
  isObject,
  KEY,
  type Kind,
  kind,
  list,
  NAME,
  oneOf,
  unknownField,
} from "../kinds.ts";
import * as limits from "../limits.ts";
import { A_GROUP, byteLength, GROUP_PATTERN, isGroup } from "../names.ts";
import { AFTER } from "./after.ts";
import { BACKOFF } from "./retry-options.ts";

const { KEY_BYTES_MAX, PATH_LEVELS_MAX } = limits;

const PATH = list(KEY, PATH_LEVELS_MAX, 1);

export const FAIRNESS_KEY: Kind<string | readonly string[]> = {
  words: `${KEY.words}, or an array of 1 to ${PATH_LEVELS_MAX} of them`,
  schema: { anyOf: [KEY.schema, PATH.schema] },
  parse: (field, value) => (Array.isArray(value) ? PATH : KEY).parse(field, value),
  check(field, value) {
    if (Array.isArray(value)) checkParsed(PATH, field, value);
    else if (KEY.accepts?.(value) !== true) throw invalid(field, this.words, value);
  },
};

const PRIORITY: Kind<number | string> = kind(
  "the index or the name of a tier",
  { type: ["integer", "string"] },
  (value) => typeof value === "string" || Number.isInteger(value),
);

const GROUP: Kind<string> = kind(A_GROUP, { type: "string", pattern: GROUP_PATTERN }, isGroup);

const HEADERS: Kind<Readonly<Record<string, string>>> = {
  words: "an object of texts",
  schema: { type: "object", additionalProperties: { type: "string" } },
  parse(field, value) {
    if (!isObject(value)) throw invalid(field, this.words, value);
    const entries = Object.entries(value);
    if (entries.length > limits.HEADERS_MAX) {
      throw invalid(field, `at most ${limits.HEADERS_MAX} headers`, entries.length);
    }
    let size = 0;
    for (const [name, text] of entries) {
      if (typeof text !== "string") throw invalid(`${field}.${name}`, "a text", text);
      size += byteLength(name) + byteLength(text);
    }
    if (size <= limits.HEADERS_BYTES_MAX) return value as Readonly<Record<string, string>>;
    throw invalid(field, `at most ${limits.HEADERS_BYTES_MAX} bytes in all`, size);
  },
};

const DEDUPE_OPTIONS = {
  key: { kind: bytes(KEY_BYTES_MAX, 1), isRequired: true, text: "Jobs with the same key are one." },
  mode: {
    kind: oneOf(["pending", "window", "debounce", "replace", "keepLast"]),
    default: "pending",
    text: "How long the key counts, and what a second job does to the first.",
  },
  window: { kind: duration(1), as: "windowMs", text: 'For the mode "window": how long.' },
} as const satisfies Fields;

export const JOB_OPTIONS = {
  fairnessKey: {
    kind: FAIRNESS_KEY,
    default: "",
    text: "Whose job it is, such as a tenant: keys share the workers. An array is a path of levels.",
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
    text: "The gates that must be open before the job is delivered.",
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
    text: "The job expires if it has not ended this long after it was added.",
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
  after: {
    kind: list(AFTER, limits.JOB_AFTER_MAX),
    text: "Jobs, or their ids, that must have ended before this one can run.",
  },
  headers: { kind: HEADERS, text: "Texts that are stored with the job; policies can read them." },
  attempts: {
    kind: integer(1, limits.ATTEMPTS_MAX),
    reckoned: "the queue's",
    text: "Failures after which the job is dead.",
  },
  backoff: { kind: BACKOFF, reckoned: "the queue's", text: "How failures are retried." },
  lease: {
    kind: LEASE,
    as: "leaseMs",
    reckoned: "the queue's",
    text: "How long a worker may hold the job without a sign of life.",
  },
  ordered: {
    kind: FLAG,
    reckoned: "the queue's",
    text: "The job waits until the ordered jobs ahead of it with the same key and priority have ended.",
  },
} as const satisfies Fields;

export interface JobOptions extends GivenFields<typeof JOB_OPTIONS> {}

export const JOB_SCHEMA = fields(JOB_OPTIONS).schema;

/** Names of all options, in the order in which a policy is asked. */
export const JOB_FIELDS = Object.keys(JOB_OPTIONS) as readonly (keyof JobOptions)[];

/** They have another form inside. */
const CONVERTED: ReadonlySet<string> = new Set<keyof JobOptions>([
  ...(["delay", "runAt", "ttl", "deadline", "maxWait"] as const),
  ...(["dedupe", "backoff", "lease", "after"] as const),
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

const TOLD: ReadonlyMap<string, { readonly name: string; readonly kind: Kind }> = new Map(
  Object.entries(JOB_OPTIONS as Fields).map(([name, { as = name, kind }]) => [as, { name, kind }]),
);

/** Reads options into a job, which may have others. Options that are `undefined` are ignored. */
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

const NO_PAYLOAD = new Uint8Array(0);

/**
 * A job with a place for every option: what reads jobs meets one shape and stays fast. The library
 * makes it of what is added, and the broker gives it to the engine.
 */
export class PreparedJob implements NewJob, JobSpec {
  payload: Uint8Array = NO_PAYLOAD;
  headers: Readonly<Record<string, string>> | undefined = undefined;
  fairnessKey: FairnessKey | undefined = undefined;
  weight: number | undefined = undefined;
  priority: number | string | undefined = undefined;
  gates: readonly string[] | undefined = undefined;
  policyGates: true | undefined = undefined;
  cost: number | undefined = undefined;
  delayMs: number | undefined = undefined;
  runAt: number | undefined = undefined;
  ttlMs: number | undefined = undefined;
  deadline: number | undefined = undefined;
  maxWaitMs: number | undefined = undefined;
  dedupe: JobSpec["dedupe"] = undefined;
  group: string | undefined = undefined;
  after: NewJob["after"] = undefined;
  /** The same, for the engine: jobs are numbers there. */
  dependencies: JobSpec["dependencies"] = undefined;
  flow: number | undefined = undefined;
  attempts: number | undefined = undefined;
  backoff: JobSpec["backoff"] = undefined;
  leaseMs: number | undefined = undefined;
  ordered: boolean | undefined = undefined;
  schedule: JobSpec["schedule"] = undefined;
  sizeBytes: number | undefined = undefined;
  body: unknown = undefined;
}

/** The rows by the names that are used inside. */
const PARSED: ReadonlyMap<string, { readonly field: string; readonly kind: Kind }> = new Map(
  Object.entries(JOB_OPTIONS as Fields).map(([name, { as = name, kind }]) => {
    return [as, { field: `job.${name}`, kind }];
  }),
);

/** Checks a job as it travels, and answers one that is the caller's own. */
export function parseJob(job: NewJob): PreparedJob {
  if (typeof job !== "object" || job === null) throw invalid("job", "an object", job);
  const { payload } = job;
  if (!(payload instanceof Uint8Array)) throw invalid("job.payload", "bytes", payload);
  const parsed = new PreparedJob();
  parsed.payload = payload;
  for (const name in job) {
    const value: unknown = job[name as keyof NewJob];
    if (value === undefined || name === "payload") continue;
    const row = PARSED.get(name);
    if (row === undefined) throw value instanceof Unread ? value.error : unknownOption(name, value);
    checkParsed(row.kind, row.field, value);
    (parsed as unknown as Record<string, unknown>)[name] = value;
  }
  settle(parsed);
  return parsed;
}

function unknownOption(name: string, value: unknown): unknown {
  return unknownField(`job.${name}`, ["payload", ...PARSED.keys()], value);
}

/** What options say together. That `debounce` needs a delay is not here: a policy may bring it. */
function settle(job: PreparedJob): void {
  if (job.delayMs !== undefined && job.runAt !== undefined) {
    throw invalid("job.runAt", "absent when job.delay is given", job.runAt);
  }
  if (job.ttlMs !== undefined && job.deadline !== undefined) {
    throw invalid("job.deadline", "absent when job.ttl is given", job.deadline);
  }
  if (job.dedupe === undefined) return;
  const { key, mode = "pending", windowMs } = job.dedupe;
  if (mode === "window") checkParsed(DEDUPE_OPTIONS.window.kind, "job.dedupe.window", windowMs);
  else if (windowMs !== undefined) {
    throw invalid("job.dedupe.window", 'absent unless the mode is "window"', windowMs);
  }
  job.dedupe = { key, mode, windowMs };
}

/** An option of the stream that cannot be read: the broker refuses its job alone, by its error. */
class Unread {
  readonly name: string;
  readonly value: unknown;
  readonly error: unknown;

  constructor(name: string, value: unknown, error: unknown) {
    this.name = name;
    this.value = value;
    this.error = error;
  }

  /** Defined and not set, since the name may be `__proto__`. */
  tell(told: object): void {
    Object.defineProperty(told, this.name, { value: this.value, enumerable: true });
  }
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Options of a job in the names of users, as the stream carries them: `delay` for `delayMs`. They
 * are added to `told`, without those in `beside`.
 */
export function tellOptions(
  inner: object,
  told: Record<string, unknown> = {},
  beside = NONE,
): Record<string, unknown> {
  for (const name in inner) {
    const value = (inner as Record<string, unknown>)[name];
    if (value === undefined || beside.has(name)) continue;
    const of = TOLD.get(name);
    if (value instanceof Unread) value.tell(told);
    else if (of !== undefined && isObject(value)) told[of.name] = answerOf(of.kind, value);
    else told[of?.name ?? name] = value;
  }
  return told;
}

/** The reverse. The first option that cannot be read is kept beside the others as `unread`. */
export function hearOptions(
  told: object,
  inner: Record<string, unknown> = {},
  beside = NONE,
): Record<string, unknown> {
  for (const name in told) {
    if (beside.has(name)) continue;
    const value = (told as Record<string, unknown>)[name];
    try {
      readJob(inner, { [name]: value });
    } catch (error) {
      inner.unread ??= new Unread(name, value, error);
    }
  }
  return inner;
}

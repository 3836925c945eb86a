/**
 * What a queue is told, from the user's words to the port's. What is code (schema, functions of a
 * policy, retry as a function) cannot be stored: it stays with the handle, and a process that adds
 * or works says it anew.
 */
import type { OnFull, QueueOptions as PortOptions, TierConfig } from "@sluice/protocol";
import { type Duration, parseDuration, parseLease } from "./duration.ts";
import { fieldsOf } from "./fields.ts";
import { invalid } from "./invalid.ts";
import { parseQueueRetry, QUEUE_RETRY_FIELDS, type QueueRetryOptions } from "./parse-retry.ts";
import { type Policy, type PolicyFunctions, parsePolicy } from "./policy.ts";
import { isSchema, type StandardSchema } from "./schema.ts";
import type { WorkJob } from "./work-job.ts";

/** How payloads and results are written: as JSON, or payloads as the bytes they are. */
export type Codec = "json" | "bytes";

/**
 * Decides on a failed job; `undefined` leaves it to the queue's own retry policy. It is asked after
 * every failure that does not speak for itself (as `RetryAfter` and `Unrecoverable` do), and only
 * decides when: a job that has used up its attempts is dead, whatever the rule says.
 */
export type RetryRule<Payload> = (
  error: unknown,
  job: WorkJob<Payload>,
) => { delay: Duration } | "dlq" | undefined;

export interface RuledRetry<Payload> extends QueueRetryOptions {
  rule: RetryRule<Payload> | undefined;
}

/** What a queue can be told; what is absent keeps its value, or the default. */
export interface QueueOptions<Payload = unknown> {
  /** How many, or their names; 0 is the most urgent. Default 4. */
  tiers?: number | readonly (string | Partial<TierConfig>)[] | undefined;
  /** `strict` (default), or one weight per tier. */
  tierOrder?: "strict" | readonly number[] | undefined;
  /** A waiting job moves up one tier after this long; null: never (default). */
  promoteAfter?: Duration | null | undefined;
  /** False: first in, first out inside a tier. Default true. */
  fairness?: boolean | undefined;
  /** Weights of lanes by key, or by a prefix that ends in `*`. */
  weights?: Readonly<Record<string, number>> | undefined;
  /** The queue's weight behind gates it shares with other queues. Default 1. */
  weight?: number | undefined;
  capacity?: PortOptions["capacity"] | undefined;
  /** Default `reject`. */
  onFull?: OnFull | undefined;
  /** How long an add waits for room under `onFull: "wait"`. Default 5 s. */
  addTimeout?: Duration | undefined;
  /** By how much a delayed job is put off that falls due on a full queue. Default 10 s. */
  fullRetry?: Duration | undefined;
  /** Token bucket for adds, at or above a fill level from 0 to 1. */
  admission?: PortOptions["admission"] | undefined;
  /** How long a job may be held without a sign of life. Default 30 s. */
  lease?: Duration | undefined;
  /**
   * The policy, which may have a rule that decides on each failure. A function alone is such a
   * rule, and the rest of the policy keeps its value. The rule stays with this handle.
   */
  retry?: QueueRetryOptions | RuledRetry<Payload> | RetryRule<Payload> | undefined;
  /** Name of the dead letter queue; false: drop and count. Default `<queue>.dlq`. */
  dlq?: string | false | undefined;
  /** Dead letters in this queue end as expired after this long; null: they stay (default). */
  retention?: Duration | null | undefined;
  /** Ended jobs that are kept with their results. Default 1,000 jobs for 10 min. */
  results?: { jobs?: number | undefined; ttl?: Duration | undefined } | undefined;
  ttl?: Duration | undefined;
  paused?: boolean | undefined;
  /**
   * What jobs are told when their producer does not say: templates, values, choices and Lua, which
   * are stored with the queue, or functions, which stay here. Null takes away what is stored.
   */
  policy?: Policy<Payload> | null | undefined;
  /**
   * In a cluster: over how many partitions the jobs are divided, by the first level of their
   * fairness key. It only grows; 1 is all that a single broker knows.
   */
  spread?: number | undefined;
  /** Any Standard Schema: payloads are checked when they are added and when they are handed out. */
  schema?: StandardSchema | undefined;
  /**
   * Any Standard Schema: what handlers return is checked when a job finishes, and types `finished`.
   * A result that does not match fails the job for good. It stays with this handle.
   */
  result?: StandardSchema | undefined;
  /** Default `json`. */
  codec?: Codec | undefined;
}

/** The part of the options that is code, or says how to read bytes: it lives in this process. */
export interface LocalOptions {
  readonly policy: PolicyFunctions | undefined;
  readonly schema: StandardSchema | undefined;
  readonly result: StandardSchema | undefined;
  readonly codec: Codec;
  readonly retry: RetryRule<unknown> | undefined;
}

const KNOWN = [
  "tiers",
  "tierOrder",
  "promoteAfter",
  "fairness",
  "weights",
  "weight",
  "capacity",
  "onFull",
  "addTimeout",
  "fullRetry",
  "admission",
  "lease",
  "retry",
  "dlq",
  "retention",
  "results",
  "ttl",
  "paused",
  "policy",
  "spread",
  "schema",
  "result",
  "codec",
] as const satisfies readonly (keyof QueueOptions)[];

/** They mean the same on both sides. */
const PASSED = [
  "tiers",
  "tierOrder",
  "fairness",
  "weights",
  "weight",
  "capacity",
  "onFull",
  "admission",
  "dlq",
  "paused",
  "spread",
] as const satisfies readonly (keyof QueueOptions & keyof PortOptions)[];

export function parseQueue(value: unknown): { port: PortOptions; local: LocalOptions } {
  const options = fieldsOf<QueueOptions>("queue", value, KNOWN);
  const { policy } = options;
  const none = { functions: undefined, rules: undefined };
  const { functions, rules } = policy === undefined || policy === null ? none : parsePolicy(policy);
  const port = parsePort(options);
  if (rules !== undefined || policy === null) port.policy = rules ?? null;
  return { port, local: parseLocal(options, functions) };
}

function parsePort(options: QueueOptions): PortOptions {
  const { promoteAfter, addTimeout, fullRetry, lease, retry, retention, results, ttl } = options;
  const port: Record<string, unknown> = {};
  for (const name of PASSED) if (options[name] !== undefined) port[name] = options[name];
  const time = (name: string, at: string, duration: unknown, parse = parseDuration): void => {
    if (duration !== undefined) port[at] = parse(`queue.${name}`, duration);
  };
  if (promoteAfter === null) port.promoteAfterMs = null;
  else time("promoteAfter", "promoteAfterMs", promoteAfter);
  if (retention === null) port.retentionMs = null;
  else time("retention", "retentionMs", retention);
  time("addTimeout", "addTimeoutMs", addTimeout);
  time("fullRetry", "fullRetryMs", fullRetry);
  time("lease", "leaseMs", lease, parseLease);
  time("ttl", "ttlMs", ttl);
  if (retry !== undefined && typeof retry !== "function") {
    const { rule: _, ...policy } = retryOf(retry);
    port.retry = parseQueueRetry("queue.retry", policy);
  }
  if (results !== undefined) port.results = parseResults(results);
  return port as PortOptions;
}

function retryOf(retry: unknown): Partial<RuledRetry<unknown>> {
  if (typeof retry === "function") return { rule: retry as RetryRule<unknown> };
  return fieldsOf<RuledRetry<unknown>>("queue.retry", retry, [...QUEUE_RETRY_FIELDS, "rule"]);
}

function parseRule(retry: unknown): RetryRule<unknown> | undefined {
  const { rule } = retry === undefined ? {} : retryOf(retry);
  if (rule === undefined || typeof rule === "function") return rule;
  throw invalid("queue.retry.rule", "a function of the error and the job", rule);
}

function parseResults(value: unknown): NonNullable<PortOptions["results"]> {
  const { jobs, ttl } = fieldsOf<NonNullable<QueueOptions["results"]>>("queue.results", value, [
    "jobs",
    "ttl",
  ]);
  return {
    ...(jobs === undefined ? {} : { jobs }),
    ...(ttl === undefined ? {} : { ms: parseDuration("queue.results.ttl", ttl) }),
  };
}

function parseLocal(
  { schema, result, codec = "json", retry }: QueueOptions,
  policy: PolicyFunctions | undefined,
): LocalOptions {
  for (const [name, value] of Object.entries({ schema, result })) {
    if (value === undefined || isSchema(value)) continue;
    throw invalid(`queue.${name}`, "a Standard Schema (with a `~standard` property)", value);
  }
  if (codec !== "json" && codec !== "bytes") {
    throw invalid("queue.codec", '"json" or "bytes"', codec);
  }
  return {
    policy,
    schema,
    result,
    codec,
    retry: parseRule(retry),
  };
}

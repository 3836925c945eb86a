/**
 * What a queue can be given. What is data travels to the broker as it is given. What is code
 * (schemas, functions of a policy, a rule for retries) cannot be stored: it stays with the handle,
 * and each process that adds or works gives it again.
 */
import {
  type Duration,
  invalid,
  isObject,
  knownFields,
  QUEUE_OPTIONS,
  type QueueRetryOptions,
  type QueueOptions as StoredOptions,
} from "@sluice/protocol";
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

/** The options of a queue. An absent one keeps its value, or the default. */
export interface QueueOptions<Payload = unknown> extends Omit<StoredOptions, "retry" | "policy"> {
  /**
   * The policy, which may have a rule that decides on each failure. A function alone is such a
   * rule, and the rest of the policy keeps its value. The rule stays with this handle.
   */
  retry?: QueueRetryOptions | RuledRetry<Payload> | RetryRule<Payload> | undefined;
  /**
   * Options for jobs whose producer does not give them: templates, values, choices and Lua, which
   * are stored with the queue, or functions, which stay here. Null removes what is stored.
   */
  policy?: Policy<Payload> | null | undefined;
  /** Any Standard Schema: payloads are checked when they are added and when they are handed out. */
  schema?: StandardSchema | undefined;
  /**
   * Any Standard Schema: what handlers return is checked when a job finishes, and types `finished`.
   * A result that does not match fails the job for good. It stays with this handle.
   */
  result?: StandardSchema | undefined;
  /** Default `json`. */
  codec?: Codec | undefined;
  /** False: the queue must exist, else this rejects with `QUEUE_NOT_FOUND`. Default true. */
  create?: boolean | undefined;
}

/** The part of the options that is code, or says how to read bytes: it lives in this process. */
export interface LocalOptions {
  readonly policy: PolicyFunctions | undefined;
  readonly schema: StandardSchema | undefined;
  readonly result: StandardSchema | undefined;
  readonly codec: Codec;
  readonly retry: RetryRule<unknown> | undefined;
}

const KNOWN = [...Object.keys(QUEUE_OPTIONS), "schema", "result", "codec", "create"];

export interface SplitOptions {
  readonly stored: StoredOptions;
  readonly local: LocalOptions;
  readonly create: boolean;
}

/** The options that the broker keeps, and those that stay here. */
export function splitQueue(value: unknown): SplitOptions {
  const options: QueueOptions = knownFields("queue", value, KNOWN);
  const { schema, result, codec = "json", retry, policy, create = true, ...rest } = options;
  if (typeof create !== "boolean") throw invalid("queue.create", "true or false", create);
  const { rule, ...retries }: Partial<RuledRetry<unknown>> =
    typeof retry === "function" ? { rule: retry } : isObject(retry) ? retry : {};
  const { functions, rules } = parsePolicy(policy);
  const stored: StoredOptions = { ...rest };
  // The broker refuses what is no object.
  if (isObject(retry)) stored.retry = retries;
  else if (retry !== undefined && typeof retry !== "function") stored.retry = retry;
  if (rules !== undefined) stored.policy = rules;
  checkLocal({ schema, result, codec, rule });
  return { stored, local: { policy: functions, schema, result, codec, retry: rule }, create };
}

function checkLocal(local: Record<"schema" | "result" | "codec" | "rule", unknown>): void {
  for (const name of ["schema", "result"] as const) {
    if (local[name] === undefined || isSchema(local[name])) continue;
    throw invalid(`queue.${name}`, "a Standard Schema (with a `~standard` property)", local[name]);
  }
  if (local.codec !== "json" && local.codec !== "bytes") {
    throw invalid("queue.codec", '"json" or "bytes"', local.codec);
  }
  if (local.rule !== undefined && typeof local.rule !== "function") {
    throw invalid("queue.retry.rule", "a function of the error and the job", local.rule);
  }
}

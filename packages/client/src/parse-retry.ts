import type { QueueRetryPolicy, RetryPolicy } from "@sluice/protocol";
import { type Duration, parseDuration } from "./duration.ts";
import { fieldsOf } from "./fields.ts";

/** How failures are retried; what is absent keeps its value, or the default. */
export interface RetryOptions {
  /** Deliveries in all, the first one included. Default 5. */
  attempts?: number | undefined;
  /** Delay before the second delivery. Default 1 s. */
  min?: Duration | undefined;
  /** Default 5 min. */
  max?: Duration | undefined;
  /** How much longer each delay is than the one before. Default 2. */
  factor?: number | undefined;
  /** Fraction of the delay that is drawn at random. Default 0.2. */
  jitter?: number | undefined;
}

/** The same for a queue, with the bound that its jobs cannot change. */
export interface QueueRetryOptions extends RetryOptions {
  /** Hand-outs in all, those given back by `RetryAfter` too; not for letters. Default 250. */
  deliveries?: number | undefined;
}

const RETRY_FIELDS = ["attempts", "min", "max", "factor", "jitter"] as const;
export const QUEUE_RETRY_FIELDS = [...RETRY_FIELDS, "deliveries"] as const;

export function parseRetry(field: string, value: unknown): Partial<RetryPolicy> {
  const { attempts, min, max, factor, jitter } = fieldsOf<RetryOptions>(field, value, RETRY_FIELDS);
  const retry: Partial<RetryPolicy> = {};
  if (attempts !== undefined) retry.attempts = attempts;
  if (min !== undefined) retry.minMs = parseDuration(`${field}.min`, min);
  if (max !== undefined) retry.maxMs = parseDuration(`${field}.max`, max);
  if (factor !== undefined) retry.factor = factor;
  if (jitter !== undefined) retry.jitter = jitter;
  return retry;
}

export function parseQueueRetry(field: string, value: unknown): Partial<QueueRetryPolicy> {
  const { deliveries, ...rest } = fieldsOf<QueueRetryOptions>(field, value, QUEUE_RETRY_FIELDS);
  const retry = parseRetry(field, rest);
  return deliveries === undefined ? retry : { ...retry, deliveries };
}

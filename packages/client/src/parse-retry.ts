import { type Duration, parseDuration, type RetryPolicy } from "@sluice/protocol";
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

const RETRY_FIELDS = ["attempts", "min", "max", "factor", "jitter"] as const;

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

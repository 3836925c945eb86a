/** Checks a job's changes to how failures are retried. */
import { invalid } from "../errors.ts";
import { ATTEMPTS_MAX, DURATION_MS_MAX, FACTOR_MAX } from "../limits.ts";
import type { RetryPolicy } from "../types.ts";
import { Fields } from "./fields.ts";

const RETRY = ["attempts", "minMs", "maxMs", "factor", "jitter"] as const;

/** The whole policy: what is not mentioned is as in `absent`. */
export function parseRetry(path: string, value: unknown, absent: RetryPolicy): RetryPolicy {
  return retryOf(new Fields(path, value, RETRY), absent);
}

function retryOf(fields: Fields, absent: RetryPolicy): RetryPolicy {
  const retry = {
    attempts: fields.integer("attempts", absent.attempts, 1, ATTEMPTS_MAX),
    minMs: fields.integer("minMs", absent.minMs, 0, DURATION_MS_MAX),
    maxMs: fields.integer("maxMs", absent.maxMs, 0, DURATION_MS_MAX),
    factor: fields.number("factor", absent.factor, 1, FACTOR_MAX),
    jitter: fields.number("jitter", absent.jitter, 0, 1),
  };
  if (retry.minMs > retry.maxMs) {
    throw invalid(fields.field("min"), `at most max (${retry.maxMs})`, retry.minMs);
  }
  return retry;
}

export interface RetryPolicy {
  /** Failures after which the job is dead. */
  attempts: number;
  /** Delay before the second delivery. */
  minMs: number;
  maxMs: number;
  factor: number;
  /** Fraction of the delay that is drawn at random (from the job's id and attempt). */
  jitter: number;
}

/** What a job changes of its queue's policy; its `attempts` are an option of their own. */
export type Backoff = Partial<Omit<RetryPolicy, "attempts">>;

/** The policy of a queue: a job may change all of it but the bound on its deliveries. */
export interface QueueRetryPolicy extends RetryPolicy {
  /** Hand-outs in all, also those that cost no attempt; not for dead letters. */
  deliveries: number;
}

/** How a queue retries what fails. */
export interface RetryOptions {
  retry: QueueRetryPolicy;
}

/**
 * How long a job waits before its next delivery: exponential in the failures so far, less a jitter.
 * The jitter is not drawn but derived from the seed, the job and the attempt: the same calls give
 * the same times, and two jobs that failed together do not come back together.
 */
export function backoffMs(policy: RetryPolicy, seed: number, id: number, failures: number): number {
  // Many failures make the power infinite, and 0 times infinity is no number.
  const growth = Math.min(policy.factor ** (failures - 1), Number.MAX_VALUE);
  const full = Math.min(policy.maxMs, policy.minMs * growth);
  return Math.round(full * (1 - policy.jitter * fraction(seed, id, failures)));
}

/** A number from 0 to 1 that looks random and is not. */
function fraction(seed: number, id: number, failures: number): number {
  let x = (seed ^ Math.imul(id | 0, 0x9e3779b1) ^ Math.imul(failures, 0x85ebca6b)) | 0;
  x ^= Math.floor(id / 2 ** 32) | 0;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
}

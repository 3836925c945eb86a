/** What a thrown error means for its job, in the port's words. */
import type { Nack } from "@sluice/protocol";
import { RetryAfter, textOf, Unrecoverable } from "./errors.ts";

/** A nack without the lease that it is for. */
export type Failure = Omit<Nack, "lease">;

export function failureOf(error: unknown): Failure {
  if (error instanceof RetryAfter) return waiting(error);
  if (error instanceof Unrecoverable) return final(error);
  return error === undefined ? {} : { error: textOf(error) };
}

function waiting({ delayMs, gate, reason, message }: RetryAfter): Failure {
  if (gate === undefined) return { error: message, delayMs };
  return { error: message, cooldown: { gate, ms: delayMs, ...(reason && { reason }) } };
}

function final(error: Unrecoverable): Failure {
  const failure = { error: textOf(error), unrecoverable: true };
  return error.blame === undefined ? failure : { ...failure, blame: error.blame };
}

/** Whether the job runs again; `attempt` is 0 on the first delivery. */
export function willRetry(failure: Failure, attempt: number, attempts: number): boolean {
  if (failure.unrecoverable === true) return false;
  return failure.cooldown !== undefined || attempt + 1 < attempts;
}

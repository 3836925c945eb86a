/** What a thrown error means for its job, in the port's words. */
import type { ErrorJson, Nack } from "@sluice/protocol";
import { RetryAfter, shorten, textOf, Unrecoverable } from "./errors.ts";
import { REASON_TEXT_MAX, STACK_TEXT_MAX } from "./limits.ts";

/** A nack without the lease that it is for. */
export type Failure = Omit<Nack, "lease">;

export function failureOf(error: unknown): Failure {
  // A RetryAfter is a request to wait, not a fault: its stack would only fill the log.
  if (error instanceof RetryAfter) return waiting(error);
  if (error instanceof Unrecoverable) return { ...final(error), ...stackOf(error) };
  return error === undefined ? {} : { error: textOf(error), ...stackOf(error) };
}

/** Where an error was thrown, as far as the broker keeps it. */
function stackOf(error: unknown): { stack?: string } {
  const stack = error instanceof Error ? error.stack : undefined;
  return typeof stack === "string" ? { stack: shorten(stack, STACK_TEXT_MAX) } : {};
}

function waiting({ delayMs, gate, reason, message }: RetryAfter): Failure {
  const error = shorten(message);
  if (gate === undefined) return { error, delayMs };
  const why = reason ? { reason: shorten(reason, REASON_TEXT_MAX) } : {};
  return { error, cooldown: { gate, ms: delayMs, ...why } };
}

/** What the broker is told when it has refused a failure: only that the job has failed. */
export function plainly(failure: Failure, { code, message }: ErrorJson): Failure {
  const error = shorten(`${failure.error ?? ""} (${code}: ${message})`.trim());
  const { stack } = failure;
  const told = stack === undefined ? { error } : { error, stack };
  return failure.unrecoverable === true ? { ...told, unrecoverable: true } : told;
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

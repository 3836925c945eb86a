/** What a handler throws to say more than "it failed", and what a caller gets for a failed job. */
import { type Ending, type JobEnd, SluiceError } from "@sluice/protocol";
import { type Duration, parseDuration } from "./duration.ts";
import { ERROR_TEXT_MAX } from "./limits.ts";

export interface RetryAfterOptions {
  /** The gate that cools down: no job that names it is handed out before. */
  gate?: string;
  reason?: string;
}

/**
 * The other side asked for time, as with HTTP's `Retry-After`. With a gate, the gate cools down and
 * the job has used no attempt. Without one, only this job waits, and the attempt counts.
 */
export class RetryAfter extends Error {
  readonly delayMs: number;
  readonly gate: string | undefined;
  readonly reason: string | undefined;

  constructor(duration: Duration, { gate, reason }: RetryAfterOptions = {}) {
    const delayMs = parseDuration("RetryAfter", duration);
    super(reason ?? `retry after ${delayMs} ms`);
    this.name = "RetryAfter";
    this.delayMs = delayMs;
    this.gate = gate;
    this.reason = reason;
  }
}

export interface UnrecoverableOptions {
  cause?: unknown;
  /** Gates whose ladders hear of it; false: none. Absent: all gates of the job that have one. */
  blame?: readonly string[] | false | undefined;
}

/** Trying again is of no use: the job goes to the dead letter queue at once. */
export class Unrecoverable extends Error {
  readonly blame: readonly string[] | false | undefined;

  constructor(message: string, { blame, ...options }: UnrecoverableOptions = {}) {
    super(message, options);
    this.name = "Unrecoverable";
    this.blame = blame;
  }
}

/** The job that somebody waited for ended without a result. */
export class JobFailed extends Error {
  readonly id: string;
  readonly queue: string;
  readonly ending: Exclude<Ending, "finished">;
  /** What its handler threw last, as text. */
  readonly reason: string | undefined;

  constructor({ id, queue, ending, error }: JobEnd & { ending: Exclude<Ending, "finished"> }) {
    super(`job ${id} of queue ${queue} ${SAID[ending]}${error === undefined ? "" : `: ${error}`}`);
    this.name = "JobFailed";
    this.id = id;
    this.queue = queue;
    this.ending = ending;
    this.reason = error;
  }
}

const SAID: Readonly<Record<Exclude<Ending, "finished">, string>> = {
  failed: "failed",
  cancelled: "was cancelled",
  expired: "passed its deadline",
  dead: "failed and is in the dead letter queue",
  "wait-too-long": "would have waited too long",
};

/** The error for a job that ended in any way but well. */
export function endingError(end: JobEnd & { ending: Exclude<Ending, "finished"> }): Error {
  if (end.ending !== "wait-too-long") return new JobFailed(end);
  return new SluiceError("WAIT_TOO_LONG", new JobFailed(end).message, {
    id: end.id,
    ...end.waited,
  });
}

/** The text of an error that travels with its job: `TypeError: x is not a function`. */
export function textOf(error: unknown): string {
  const text = error instanceof Error ? `${nameOf(error)}: ${error.message}` : saying(error);
  return text.length > ERROR_TEXT_MAX ? `${text.slice(0, ERROR_TEXT_MAX - 3)}...` : text;
}

/** The code of our own errors says more than their name, which is always the same. */
function nameOf(error: Error): string {
  return error instanceof SluiceError ? error.code : error.name;
}

/** Anything can be thrown, even what has no text. */
function saying(value: unknown): string {
  try {
    return String(value);
  } catch {
    return "something that has no text was thrown";
  }
}

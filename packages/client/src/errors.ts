/** What a handler throws to say more than "it failed", and what a caller gets for a failed job. */
import {
  type Duration,
  type EndState,
  type ErrorJson,
  invalid,
  type JobEnd,
  knownFields,
  type Nack,
  parseDuration,
  SluiceError,
  TIME,
  type Time,
} from "@sluice/protocol";
import { DURATION_MS_MAX, ERROR_TEXT_MAX, REASON_TEXT_MAX, STACK_TEXT_MAX } from "./limits.ts";

export interface RetryAfterOptions {
  /** The gate that cools down: no job that names it is handed out before. */
  gate?: string;
  reason?: string;
}

export interface HeaderOptions extends RetryAfterOptions {
  /** What a date is counted from. Default: the time of this machine. */
  now?: Time;
  /** For a header that is not there or says nothing. Default 30 s. */
  fallback?: Duration;
}

/**
 * The other side asked for time, as with HTTP's `Retry-After`. With a gate, the gate cools down and
 * the job has used no attempt. Without one, only this job waits, and the attempt counts.
 *
 * The duration is milliseconds or a number with a unit, as everywhere. What a header says is in
 * seconds, or a date: that is for `RetryAfter.fromHeader`.
 */
export class RetryAfter extends Error {
  readonly delay: number;
  readonly gate: string | undefined;
  readonly reason: string | undefined;

  constructor(duration: Duration, options: RetryAfterOptions = {}) {
    const { gate, reason } = knownFields<RetryAfterOptions>("RetryAfter", options, FIELDS);
    const delayMs = delayOf(duration);
    if (gate !== undefined && !(typeof gate === "string" && NAME.test(gate))) {
      throw invalid("RetryAfter.gate", A_NAME, gate);
    }
    if (reason !== undefined && typeof reason !== "string") {
      throw invalid("RetryAfter.reason", "a string", reason);
    }
    super(reason ?? `retry after ${delayMs} ms`);
    this.name = "RetryAfter";
    this.delay = delayMs;
    this.gate = gate;
    this.reason = reason;
  }

  /**
   * Reads the header `Retry-After` of an answer: seconds, or a date. A date that has passed means
   * no wait. `null`, as `headers.get` answers, and unreadable values mean the fallback.
   */
  static fromHeader(value: string | null | undefined, options: HeaderOptions = {}): RetryAfter {
    const fields = [...FIELDS, "now", "fallback"];
    const known = knownFields<HeaderOptions>("RetryAfter.fromHeader", options, fields);
    const { now = Date.now(), fallback = "30s", ...rest } = known;
    const from = TIME.parse("RetryAfter.fromHeader.now", now);
    const ms = waitOf(value?.trim() ?? "", from);
    const otherwise = parseDuration("RetryAfter.fromHeader.fallback", fallback);
    return new RetryAfter(Number.isNaN(ms) ? otherwise : ms, rest);
  }
}

const FIELDS = ["gate", "reason"];
const NAME = /^[A-Za-z0-9._:-]{1,255}$/;
const A_NAME = "the name of a gate: 1 to 255 of A-Z a-z 0-9 . _ : -";

function delayOf(duration: unknown): number {
  if (typeof duration !== "string" || !/^\d+$/.test(duration)) {
    return parseDuration("RetryAfter", duration);
  }
  const wanted = `milliseconds or a string with a unit, such as "${duration}s"`;
  throw invalid("RetryAfter", `${wanted} (RetryAfter.fromHeader reads HTTP's header)`, duration);
}

/** Milliseconds from now; NaN when the text is neither seconds nor a date of HTTP. */
function waitOf(text: string, now: number): number {
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1_000, DURATION_MS_MAX);
  // Other texts, such as "1.5", would be dates to JavaScript. The oldest form has no zone.
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return Number.NaN;
  const time = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Math.min(Math.max(time - now, 0), DURATION_MS_MAX);
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

/** A job that ended without a result. */
export type FailedEnd = JobEnd & { state: Exclude<EndState, "finished"> };

/** The job that the caller waited for ended without a result. */
export class JobFailed extends Error {
  /** As errors of the broker have one; `state` says more. */
  readonly code = "JOB_FAILED";
  readonly id: string;
  readonly queue: string;
  readonly state: FailedEnd["state"];
  /** What its handler threw last, as text. */
  readonly reason: string | undefined;

  constructor({ id, queue, state, error, waited }: FailedEnd) {
    const how = waited === undefined ? ENDED[state] : "would have waited too long";
    super(`job ${id} of queue ${queue} ${how}${error === undefined ? "" : `: ${error}`}`);
    this.name = "JobFailed";
    this.id = id;
    this.queue = queue;
    this.state = state;
    this.reason = error;
  }
}

const ENDED: Readonly<Record<FailedEnd["state"], string>> = {
  failed: "failed",
  cancelled: "was cancelled",
  expired: "passed its deadline",
  dead: "failed and is in the dead letter queue",
};

/** The error for a job that ended without a result. */
export function endError(end: FailedEnd): Error {
  if (end.waited === undefined) return new JobFailed(end);
  return new SluiceError("WAIT_TOO_LONG", new JobFailed(end).message, {
    id: end.id,
    ...end.waited,
  });
}

/** The text of an error that travels with its job: `TypeError: x is not a function`. */
export function textOf(error: unknown): string {
  return shorten(error instanceof Error ? `${nameOf(error)}: ${error.message}` : saying(error));
}

/** A text has an end: what travels with a job is a message, not a response body. */
function shorten(text: string, max = ERROR_TEXT_MAX): string {
  return text.length > max ? `${text.slice(0, max - 3)}...` : text;
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

function waiting({ delay: delayMs, gate, reason, message }: RetryAfter): Failure {
  const error = shorten(message);
  if (gate === undefined) return { error, delayMs };
  const why = reason ? { reason: shorten(reason, REASON_TEXT_MAX) } : {};
  return { error, cooldown: { gate, ms: delayMs, ...why } };
}

/** The failure to send when the broker has refused one: it says only that the job has failed. */
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

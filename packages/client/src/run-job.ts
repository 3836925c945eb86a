/** Runs one job through its handler; answers how it is to be ended. Never throws or rejects. */

import { type Duration, knownFields, parseDuration } from "@sluice/protocol";
import type { Delivery, HandlerContext } from "./delivery.ts";
import { type Failure, failureOf, textOf } from "./errors.ts";
import { type EncodedResult, encodeResult, openPayload } from "./payload.ts";
import type { LocalOptions, RetryRule } from "./queue-options.ts";
import type { Tracing } from "./trace.ts";
import type { WorkJob } from "./work-job.ts";

export type Handler<Payload, Result> = (
  job: WorkJob<Payload>,
  context: HandlerContext,
) => Result | Promise<Result>;

/** How a run ended. `failure` is sent to the broker; without one the job is finished. */
export interface RunEnd {
  readonly result: unknown;
  readonly bytes: Uint8Array | undefined;
  readonly error: unknown;
  readonly failure: Failure | undefined;
}

export interface RunOptions {
  readonly local: LocalOptions;
  readonly handler: Handler<unknown, unknown>;
  readonly tracing: Tracing | undefined;
  readonly onStarted: (job: Delivery) => void;
  /** The user's retry rule has failed itself. */
  readonly onError: (error: unknown) => void;
}

/**
 * A promise only when the schema or the handler is one that waits: a batch of jobs that end at once
 * makes none, which was a fifth of all the memory that a job took on its way.
 */
export function runJob(job: Delivery, options: RunOptions): RunEnd | Promise<RunEnd> {
  let payload: unknown;
  try {
    payload = openPayload(options.local, job.payload as Uint8Array);
  } catch (error) {
    return unreadable(error);
  }
  if (!(payload instanceof Promise)) return handle(job, payload, options);
  return payload.then((opened) => handle(job, opened, options), unreadable);
}

/** Another attempt would read the same bytes, or answer the same. */
export function unreadable(error: unknown): RunEnd {
  return failed(error, { error: textOf(error), unrecoverable: true });
}

function handle(job: Delivery, payload: unknown, options: RunOptions): RunEnd | Promise<RunEnd> {
  job.payload = payload;
  options.onStarted(job);
  // A handler that answers at once has waited for no step.
  job.onSuspended = NOTHING;
  try {
    const { handler, tracing } = options;
    const result: unknown = tracing === undefined ? handler(job, job) : tracing.run(job, handler);
    return mayWait(result) ? awaited(result, job, options) : finished(result, options.local);
  } catch (error) {
    return failed(error, decide(error, job, options));
  }
}

const NOTHING = (): void => {};

function mayWait(result: unknown): boolean {
  if (typeof result === "function") return true;
  return typeof result === "object" && result !== null && "then" in result;
}

/** What a handler answers counts no more once its job is suspended. */
function awaited(result: unknown, job: Delivery, options: RunOptions): Promise<RunEnd> {
  return new Promise((resolve) => {
    job.onSuspended = () => resolve(SUSPENDED);
    void settled(result, job, options).then(resolve);
  });
}

/** The job has no end yet: it waits for a step. */
const SUSPENDED: RunEnd = {
  result: undefined,
  bytes: undefined,
  error: undefined,
  failure: undefined,
};

async function settled(result: unknown, job: Delivery, options: RunOptions): Promise<RunEnd> {
  try {
    return await finished(await result, options.local);
  } catch (error) {
    return failed(error, decide(error, job, options));
  }
}

/**
 * A result that JSON cannot carry, or that does not match its schema, is a bug of the handler:
 * doing the work again is of no use.
 */
export function finished(
  result: unknown,
  { result: schema }: LocalOptions,
): RunEnd | Promise<RunEnd> {
  if (result === undefined && schema === undefined) return NO_RESULT;
  try {
    const stored = encodeResult(schema, result);
    return stored instanceof Promise ? stored.then(ended, unreadable) : ended(stored);
  } catch (error) {
    return unreadable(error);
  }
}

function ended({ value, bytes }: EncodedResult): RunEnd {
  return { result: value, bytes, error: undefined, failure: undefined };
}

const NO_RESULT: RunEnd = {
  result: undefined,
  bytes: undefined,
  error: undefined,
  failure: undefined,
};

export function failed(error: unknown, failure: Failure): RunEnd {
  return { result: undefined, bytes: undefined, error, failure };
}

/** What the error says, unless it says nothing special and the user's rule does. */
export function decide(
  error: unknown,
  job: Delivery,
  { local, onError }: Pick<RunOptions, "local" | "onError">,
): Failure {
  // Also what is thrown as `undefined` has failed.
  const failure = failureOf(error ?? "nothing was thrown with the error");
  const isPlain = failure.cooldown === undefined && failure.delayMs === undefined;
  if (local.retry === undefined || failure.unrecoverable === true || !isPlain) return failure;
  try {
    return { ...failure, ...ruled(local.retry, error, job) };
  } catch (thrown) {
    onError(thrown);
    return failure;
  }
}

function ruled(rule: RetryRule<unknown>, error: unknown, job: Delivery): Failure {
  const decision = rule(error, job);
  if (decision === undefined) return {};
  if (decision === "dlq") return { unrecoverable: true };
  const { delay } = knownFields<{ delay: Duration }>("queue.retry's answer", decision, ["delay"]);
  return { delayMs: parseDuration("queue.retry's answer.delay", delay) };
}

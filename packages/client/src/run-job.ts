/** Runs one job through its handler; answers how it is to be ended. Never throws. */
import type { Delivery, WorkContext } from "./delivery.ts";
import { type Duration, parseDuration } from "./duration.ts";
import { textOf } from "./errors.ts";
import { type Failure, failureOf } from "./failure.ts";
import { fieldsOf } from "./fields.ts";
import { encodeJson } from "./json.ts";
import type { LocalOptions, RetryRule } from "./parse-queue.ts";
import { openPayload } from "./payload.ts";
import type { Tracing } from "./trace.ts";
import type { WorkJob } from "./work-job.ts";

export type Handler<Payload, Result> = (
  job: WorkJob<Payload>,
  context: WorkContext,
) => Result | Promise<Result>;

/** How a run ended. `failure` says what the broker is told; without one the job is finished. */
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

export async function runJob(job: Delivery, options: RunOptions): Promise<RunEnd> {
  try {
    const payload = openPayload(options.local, job.payload as Uint8Array);
    job.payload = payload instanceof Promise ? await payload : payload;
  } catch (error) {
    // Another attempt would read the same bytes.
    return failed(error, { error: textOf(error), unrecoverable: true });
  }
  options.onStarted(job);
  let result: unknown;
  try {
    const { handler, tracing } = options;
    result = await (tracing === undefined ? handler(job, job) : tracing.run(job, handler));
  } catch (error) {
    return failed(error, decide(error, job, options));
  }
  return finished(result);
}

/** A result that JSON cannot carry is a bug of the handler: doing the work again is of no use. */
function finished(result: unknown): RunEnd {
  if (result === undefined) return NO_RESULT;
  try {
    const bytes = encodeJson("result", result);
    return { result, bytes, error: undefined, failure: undefined };
  } catch (error) {
    return failed(error, { error: textOf(error), unrecoverable: true });
  }
}

const NO_RESULT: RunEnd = {
  result: undefined,
  bytes: undefined,
  error: undefined,
  failure: undefined,
};

function failed(error: unknown, failure: Failure): RunEnd {
  return { result: undefined, bytes: undefined, error, failure };
}

/** What the error says, unless it says nothing special and the user's rule does. */
function decide(error: unknown, job: Delivery, { local, onError }: RunOptions): Failure {
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
  const { delay } = fieldsOf<{ delay: Duration }>("queue.retry's answer", decision, ["delay"]);
  return { delayMs: parseDuration("queue.retry's answer.delay", delay) };
}

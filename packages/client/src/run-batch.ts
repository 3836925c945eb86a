/** Runs a batch of jobs through one call of its handler. Never throws or rejects. */
import { SluiceError } from "@sluice/protocol";
import type { Delivery, WorkContext } from "./delivery.ts";
import { openPayload } from "./payload.ts";
import { decide, failed, finished, type RunEnd, type RunOptions, unreadable } from "./run-job.ts";
import type { WorkJob } from "./work-job.ts";

/** A job of a batch, with what a handler of one job gets beside it. */
export interface BatchJob<Payload> extends WorkJob<Payload>, WorkContext {}

/**
 * Gets up to `batch.max` jobs at once. It answers with one outcome for each of them, in order: a
 * result, or an `Error` for a job that failed. Without an answer all of them are finished; when it
 * throws, all of them have failed.
 */
export type BatchHandler<Payload, Result> = (
  jobs: readonly BatchJob<Payload>[],
) => BatchOutcomes<Result> | Promise<BatchOutcomes<Result>>;

export type BatchOutcomes<Result> = readonly (Result | Error)[] | undefined;

export interface BatchRunOptions extends Omit<RunOptions, "handler"> {
  readonly handler: BatchHandler<unknown, unknown>;
}

/** How each job of the batch is to be ended, in order. */
export async function runBatch(
  jobs: readonly Delivery[],
  options: BatchRunOptions,
): Promise<readonly RunEnd[]> {
  const unread = new Map<Delivery, RunEnd>();
  for (const job of jobs) {
    try {
      job.payload = await openPayload(options.local, job.payload as Uint8Array);
    } catch (error) {
      unread.set(job, unreadable(error));
    }
  }
  const given = jobs.filter((job) => !unread.has(job));
  const ends = given.length === 0 ? [] : await handle(given, options);
  return jobs.map((job) => unread.get(job) ?? ends[given.indexOf(job)]!);
}

async function handle(jobs: readonly Delivery[], options: BatchRunOptions): Promise<RunEnd[]> {
  for (const job of jobs) options.onStarted(job);
  try {
    const outcomes = checked(await options.handler(jobs), jobs.length);
    return await Promise.all(jobs.map((job, i) => endOf(job, outcomes?.[i], options)));
  } catch (error) {
    return jobs.map((job) => failed(error, decide(error, job, options)));
  }
}

function endOf(
  job: Delivery,
  outcome: unknown,
  options: BatchRunOptions,
): RunEnd | Promise<RunEnd> {
  if (outcome instanceof Error) return failed(outcome, decide(outcome, job, options));
  return finished(outcome, options.local);
}

function checked(outcomes: unknown, count: number): readonly unknown[] | undefined {
  if (outcomes === undefined) return undefined;
  if (Array.isArray(outcomes) && outcomes.length === count) return outcomes;
  const got = Array.isArray(outcomes) ? `${outcomes.length} outcomes` : typeof outcomes;
  const wanted = `an array of ${count} outcomes, one for each job, or nothing`;
  throw new SluiceError("INVALID", `the handler of a batch must return ${wanted}, got ${got}`);
}

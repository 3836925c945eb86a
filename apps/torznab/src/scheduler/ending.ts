/** From the end of a task's job to the outcome for its submitter. */
import { JobFailed, SluiceError } from "sluice";
import { Fault } from "./fault.ts";
import type { Kept } from "./kept.ts";
import { type Outcome, RateLimitWaitError, STATUSES, without } from "./outcome.ts";
import type { Task } from "./submission.ts";

export function answered<Result>(answer: Kept<Result>, indexer: { id: string }): Outcome<Result> {
  const { results, coverage = [indexer.id], cut, more } = answer;
  const status = results.length === 0 ? "empty" : "ok";
  const rest = { ...(cut === undefined ? {} : { cut }), ...(more === undefined ? {} : { more }) };
  return { status, results, coverage, ...rest };
}

/** The job has a result: from the handler here, or kept from another process. */
export function finishedBy<Params, Result>(
  task: Task<Params, Result>,
  result: unknown,
): Outcome<Result> {
  if (task.outcome !== undefined) return task.outcome;
  if (task.givenUp !== undefined) return endedBy(task, undefined);
  return answered((result as Kept<Result> | undefined) ?? { results: [] }, task.indexer);
}

/** What a throw of the handler says; what is no `Fault` is an error like any other. */
export function failed<Result>(thrown: unknown): Outcome<Result> {
  if (thrown instanceof Fault) return without(thrown.status, thrown);
  return without("error", thrown instanceof Error ? thrown : new Error(String(thrown)));
}

/** The job ended without a result: who or what ended it? */
export function endedBy<Params, Result>(
  task: Task<Params, Result>,
  error: unknown,
): Outcome<Result> {
  if (task.givenUp !== undefined) return without(task.givenUp, givenUp(task, task.givenUp));
  if (error instanceof SluiceError) return refused(task, error);
  if (!(error instanceof JobFailed)) return failed(error);
  if (task.outcome !== undefined) return task.outcome;
  if (error.state === "cancelled") return without("cancelled", givenUp(task, "cancelled"));
  if (error.state === "expired") {
    // It waited for our own limits: the indexer did not fail.
    const text = `${task.indexer.name} had no turn before the search's deadline`;
    return without("rate_limited", new Fault(text, { status: "rate_limited" }));
  }
  return told(error.reason ?? error.message);
}

/** A job that another process ended says in its text what became of it. */
function told<Result>(reason: string): Outcome<Result> {
  const [, status, text] = /^Unrecoverable: ([a-z_]+): (.*)$/s.exec(reason) ?? [];
  const known = STATUSES.find((one) => one === status);
  return known === undefined ? failed(new Error(reason)) : without(known, new Error(text));
}

function refused<Params, Result>(
  { indexer, submission }: Task<Params, Result>,
  error: SluiceError,
): Outcome<Result> {
  if (error.code === "CLOSED") return without("stopped", error);
  if (error.code !== "WAIT_TOO_LONG") return without("error", error);
  const times = {
    wait: Number(error.details.wait),
    maxWait: Number(error.details.maxWait),
    priority: submission.options.priority,
  };
  return without("rate_limited", new RateLimitWaitError(indexer, times));
}

function givenUp(task: { indexer: { name: string } }, how: "cancelled" | "stopped"): Error {
  return new Error(`the search of ${task.indexer.name} was ${how}`);
}

/**
 * Flows: jobs that wait for other jobs. A job of a flow names others of the same call by their
 * place, and jobs that exist by their ids.
 */
import type { OnDependencyFailure } from "@sluice/engine";
import type { Added, After, JobState, NewJob } from "./job.ts";
import { invalid, isObject, oneOf, unknownField } from "./kinds.ts";
import { FLOW_AFTER_MAX, FLOW_JOBS_MAX } from "./limits.ts";

export type { OnDependencyFailure } from "@sluice/engine";

/** A job that another one waits for: one of the same call by its place, or one that exists. */
export type FlowAfter = After | FlowPlace;

export interface FlowPlace {
  job: number;
  onDependencyFailure?: OnDependencyFailure | undefined;
}

export interface FlowJob extends Omit<NewJob, "after"> {
  queue: string;
  after?: readonly FlowAfter[] | undefined;
}

export interface FlowAdded {
  /** `queue/id`, by the queue under which the flow was added. */
  flow: string;
  /** In the order of the jobs. */
  jobs: readonly Added[];
}

/** A job at the other end of a wait. */
export interface DependencyInfo {
  id: string;
  /** Absent when the job went with its queue. */
  queue?: string;
  state: JobState;
  /** What its failure does to the job that waits for it. */
  onDependencyFailure: OnDependencyFailure;
  error?: string;
  result?: Uint8Array;
}

export const DEPENDENCY_FAILURES = [
  "fail",
  "run",
  "wait",
] as const satisfies readonly OnDependencyFailure[];

const RULE = oneOf(DEPENDENCY_FAILURES);
const FIELDS = ["job", "id", "onDependencyFailure"] as const;

/**
 * Checks the shape of a flow and puts its jobs into an order in which each follows its own. `names`
 * are what the caller calls its jobs; else they are called by their places.
 */
export function orderFlow(jobs: readonly FlowJob[], names?: readonly string[]): number[] {
  if (!Array.isArray(jobs)) throw invalid("jobs", "an array", jobs);
  if (jobs.length === 0 || jobs.length > FLOW_JOBS_MAX) {
    throw invalid("jobs", `1 to ${FLOW_JOBS_MAX} jobs; open a flow for more`, jobs.length);
  }
  const missing = jobs.map((job, i) => checkJob(job, i, jobs.length));
  const dependents: number[][] = jobs.map(() => []);
  for (const [i, job] of jobs.entries()) {
    for (const place of placesOf(job)) dependents[place]!.push(i);
  }
  const order: number[] = [];
  for (let i = 0; i < jobs.length; i++) if (missing[i] === 0) order.push(i);
  for (let at = 0; at < order.length; at++) {
    for (const next of dependents[order[at]!]!) if (--missing[next]! === 0) order.push(next);
  }
  if (order.length === jobs.length) return order;
  const cycle = cycleOf(jobs, missing).map((at) => names?.[at] ?? at);
  const path = cycle.length > CYCLE_SHOWN ? [...cycle.slice(0, CYCLE_SHOWN), "..."] : cycle;
  throw invalid(`jobs.${cycle[0]}.after`, "free of cycles", path.join(" > "));
}

/** Jobs of a cycle that an error names. */
const CYCLE_SHOWN = 10;

/** A way from a job back to itself, along what each waits for. */
function cycleOf(jobs: readonly FlowJob[], missing: readonly number[]): number[] {
  const path: number[] = [];
  const placeOf = new Map<number, number>();
  // A job that is not in the order waits for another one that is not.
  let at = missing.findIndex((count) => count > 0);
  while (!placeOf.has(at)) {
    placeOf.set(at, path.push(at) - 1);
    for (const next of placesOf(jobs[at]!)) {
      if (missing[next]! === 0) continue;
      at = next;
      break;
    }
  }
  return [...path.slice(placeOf.get(at)), at];
}

/** Answers how many jobs of the flow a job waits for. */
function checkJob(job: FlowJob, at: number, count: number): number {
  if (!isObject(job)) throw invalid(`jobs.${at}`, "an object", job);
  const { after, queue } = job as unknown as FlowJob;
  if (typeof queue !== "string") throw invalid(`jobs.${at}.queue`, "the name of a queue", queue);
  if (after === undefined) return 0;
  if (!Array.isArray(after) || after.length > FLOW_AFTER_MAX) {
    throw invalid(`jobs.${at}.after`, `an array of up to ${FLOW_AFTER_MAX} jobs`, after);
  }
  let places = 0;
  for (const one of after as readonly FlowAfter[]) if (checkAfter(one, at, count)) places++;
  return places;
}

/** Whether it names a job of the flow. */
function checkAfter(one: FlowAfter, at: number, count: number): boolean {
  const field = `jobs.${at}.after`;
  if (!isObject(one)) throw invalid(field, "jobs by `job`, their place, or by `id`", one);
  const { job, id, onDependencyFailure } = one as Partial<After & FlowPlace>;
  for (const name in one) {
    if (!FIELDS.includes(name as "id")) throw unknownField(`${field}.${name}`, FIELDS, name);
  }
  if (onDependencyFailure !== undefined) {
    RULE.parse(`${field}.onDependencyFailure`, onDependencyFailure);
  }
  if (id !== undefined) {
    if (typeof id !== "string" || job !== undefined) throw invalid(field, "a job or an id", one);
    return false;
  }
  if (Number.isInteger(job) && job! >= 0 && job! < count) return true;
  throw invalid(`${field}.job`, `the place of a job, 0 to ${count - 1}`, job);
}

export function* placesOf({ after }: FlowJob): Generator<number> {
  for (const one of after ?? []) if ("job" in one && one.job !== undefined) yield one.job;
}

import type { Core } from "../core.ts";
import { ENDED_JOB, HAS_EXTRA, ID, JOB_INTS, META } from "../jobs/job-fields.ts";
import type { Extra } from "../jobs/job-table.ts";
import { foldError } from "./fold-error.ts";
import { changedAt, failureOfExtra, type JobFilter, RowFilter } from "./job-filter.ts";

/** Rows looked at in one step, and what a job with an error counts for: two milliseconds. */
const ROWS_PER_STEP = 20_000;
const ERROR_ROWS = 8;

const HOUR_MS = 3_600_000;
export const TREND_HOURS = 24;

/** All jobs whose last error folds to the same text. */
export interface FailureView {
  /** The number by which a filter names it. */
  failure: number;
  /** With `#` for each number or id: `timeout after # ms`. */
  error: string;
  /** Jobs that are dead or failed for good. */
  jobs: number;
  /** Jobs that have failed and are tried again. */
  retrying: number;
  firstAt: number;
  lastAt: number;
  /** When its jobs failed last, by hour; the last is the hour that ends now. */
  trend: number[];
  /** The queues in which they failed. */
  queues: Map<string, number>;
  /** The job that failed last. */
  example: { id: number; queue: string; error: string; stack: string | undefined; at: number };
}

/** A walk over all jobs that have an error, a step at a time. Nothing is kept for it meanwhile. */
export class FailureSurvey {
  readonly #core: Core;
  readonly #filter: RowFilter;
  readonly #now: number;
  readonly #groups = new Map<number, FailureView>();
  #row = 1;

  constructor(core: Core, filter: JobFilter, now: number) {
    this.#core = core;
    this.#filter = new RowFilter(core, { ...filter, time: "changed" });
    this.#now = now;
  }

  /** Looks at the next jobs, a bounded number. Returns whether there are more. */
  step(): boolean {
    const { jobs } = this.#core;
    const ints = jobs.i;
    const { end } = jobs;
    for (let left = ROWS_PER_STEP; left > 0 && this.#row < end; left--, this.#row++) {
      const at = this.#row * JOB_INTS;
      if ((ints[at + META]! & 15) === 0 || (ints[at + HAS_EXTRA]! & 1) === 0) continue;
      left -= ERROR_ROWS;
      this.#look(this.#row);
    }
    return this.#row < jobs.end;
  }

  #look(row: number): void {
    const { jobs } = this.#core;
    const extra = jobs.extra(row);
    const failure = failureOfExtra(extra);
    if (failure === 0) return;
    const isEnded = jobs.state(row) === ENDED_JOB;
    const ending = jobs.ending(row);
    // One that finished in the end, or was cancelled or expired, is no failure.
    if (isEnded && ending !== "failed" && ending !== "wait-too-long") return;
    if (!this.#filter.matches(row)) return;
    const isOver = isEnded || extra!.origin !== undefined;
    this.#count(row, extra!, failure, isOver);
  }

  #count(row: number, extra: Extra, failure: number, isOver: boolean): void {
    const queue = extra.origin?.queue ?? this.#core.queueOf(row).name;
    const at = changedAt(this.#core, row);
    const example = { id: this.#core.jobs.num(row, ID), queue, error: extra.error!, at };
    let group = this.#groups.get(failure);
    if (group === undefined) {
      group = newGroup(failure, { ...example, stack: extra.stack });
      this.#groups.set(failure, group);
    }
    if (isOver) group.jobs++;
    else group.retrying++;
    group.queues.set(queue, (group.queues.get(queue) ?? 0) + 1);
    group.firstAt = Math.min(group.firstAt, at);
    group.lastAt = Math.max(group.lastAt, at);
    const hour = TREND_HOURS - 1 - Math.floor((this.#now - at) / HOUR_MS);
    if (hour >= 0) group.trend[Math.min(hour, TREND_HOURS - 1)]!++;
    if (at >= group.example.at) group.example = { ...example, stack: extra.stack };
  }

  /** Those with the most jobs first. */
  failures(): FailureView[] {
    const all = [...this.#groups.values()];
    return all.sort((a, b) => b.jobs - a.jobs || b.retrying - a.retrying || b.lastAt - a.lastAt);
  }
}

function newGroup(failure: number, example: FailureView["example"]): FailureView {
  return {
    failure,
    error: foldError(example.error),
    jobs: 0,
    retrying: 0,
    firstAt: example.at,
    lastAt: example.at,
    trend: new Array<number>(TREND_HOURS).fill(0),
    queues: new Map(),
    example,
  };
}

import type { Core } from "../core.ts";
import {
  ADDED,
  ATTEMPTS,
  DISPATCHED,
  ID,
  JOB_INTS,
  LEASED_JOB,
  META,
  TIME,
  WORKER,
} from "../jobs/job-fields.ts";
import { allWorkers, type QueueState } from "../queues/queue-state.ts";

/** A job that a worker holds. */
export interface HeldView {
  id: number;
  attempt: number;
  /** When it was dispatched. */
  since: number;
  /** When its lease ends. */
  expiresAt: number;
}

export interface WorkerView {
  name: string;
  free: number;
  running: number;
  /** Those first that it has held longest. */
  jobs: HeldView[];
}

export interface WorkerSurveyOptions {
  /** Jobs of one worker, at most. */
  jobs: number;
  /** Jobs of all of them together, at most. */
  jobsOfAll: number;
}

/** Rows looked at in one step: about a millisecond. */
const ROWS_PER_STEP = 50_000;

/**
 * The workers of a queue and the jobs that each has held longest, a step at a time. An index of
 * jobs by worker would take its time in every dispatch and ack; this walk passes a million rows in
 * about 15 ms, ends when it has met all jobs that run, and takes none while none runs.
 */
export class WorkerSurvey {
  readonly #core: Core;
  readonly #queue: QueueState;
  readonly #options: WorkerSurveyOptions;
  readonly #held = new Map<number, HeldView[]>();
  #row = 1;
  #met = 0;
  #kept = 0;

  constructor(core: Core, queue: QueueState, options: WorkerSurveyOptions) {
    this.#core = core;
    this.#queue = queue;
    this.#options = options;
  }

  /** Looks at the next jobs, a bounded number. Returns whether there are more. */
  step(): boolean {
    const { jobs } = this.#core;
    // A table that grows gets another array, so every step reads it again.
    const { i: ints } = jobs;
    const { index, leased } = this.#queue;
    const end = Math.min(jobs.end, this.#row + ROWS_PER_STEP);
    for (; this.#row < end && this.#met < leased; this.#row++) {
      const meta = ints[this.#row * JOB_INTS + META]!;
      if ((meta & 15) === LEASED_JOB && meta >>> 8 === index) this.#meet(this.#row);
    }
    return this.#row < jobs.end && this.#met < leased;
  }

  #meet(row: number): void {
    const { jobs } = this.#core;
    this.#met++;
    const worker = jobs.int(row, WORKER);
    const held = this.#held.get(worker) ?? [];
    this.#held.set(worker, held);
    const since = jobs.num(row, ADDED) + jobs.int(row, DISPATCHED);
    const isFull = held.length === this.#options.jobs || this.#kept === this.#options.jobsOfAll;
    if (isFull) {
      if (held.length === 0 || held.at(-1)!.since <= since) return;
      held.pop();
      this.#kept--;
    }
    const before = held.findIndex((other) => other.since > since);
    const view = {
      id: jobs.num(row, ID),
      attempt: jobs.int(row, ATTEMPTS) & 0xffff,
      since,
      expiresAt: jobs.num(row, TIME),
    };
    held.splice(before === -1 ? held.length : before, 0, view);
    this.#kept++;
  }

  workers(): WorkerView[] {
    return allWorkers(this.#queue).map(({ name, index, slots, leased }) => ({
      name,
      free: slots,
      running: leased,
      jobs: this.#held.get(index) ?? [],
    }));
  }
}

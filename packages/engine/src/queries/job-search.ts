import type { Core } from "../core.ts";
import { ID, SIZE } from "../jobs/job-fields.ts";
import type { JobView } from "../types.ts";
import { FirstJobs } from "./first-jobs.ts";
import { changedAt, type JobFilter, RowFilter } from "./job-filter.ts";
import { viewOf } from "./view.ts";

/** Where a page ends: the time and the id of its last job. */
export interface JobPlace {
  time: number;
  id: number;
}

export interface JobSearchOptions extends JobFilter {
  order: "newest" | "oldest";
  limit: number;
  /** The last job of the page before. */
  after?: JobPlace | undefined;
}

/** A job that was found. */
export interface FoundView extends JobView {
  changedAt: number;
  sizeBytes: number;
}

/**
 * A walk over all jobs of all queues, a step at a time, for the first ones in an order of time. It
 * needs no index, which every job would pay for. A job that is there all the while, and matches, is
 * found: rows do not move. What changes meanwhile is judged when it is answered.
 */
export class JobSearch {
  readonly #core: Core;
  readonly #options: JobSearchOptions;
  readonly #filter: RowFilter;
  readonly #first: FirstJobs;
  /** Rows are handed out in rising order at first, so the newest tend to be last. */
  readonly #isDown: boolean;
  #row: number;
  #left: number;

  constructor(core: Core, options: JobSearchOptions) {
    this.#core = core;
    this.#options = options;
    this.#filter = new RowFilter(core, options);
    this.#isDown = options.order === "newest";
    // One more than is answered says whether there is another page.
    this.#first = new FirstJobs(options.limit + 1, this.#isDown);
    this.#left = core.jobs.end - 1;
    this.#row = this.#isDown ? this.#left : 1;
  }

  /** Looks at the next jobs, a bounded number. Returns whether there are more. */
  step(): boolean {
    const rows = Math.min(this.#left, this.#filter.rowsPerStep);
    const by = this.#isDown ? -1 : 1;
    for (let i = 0; i < rows; i++, this.#row += by) {
      if (this.#filter.matches(this.#row)) this.#offer(this.#row);
    }
    this.#left -= rows;
    return this.#left > 0;
  }

  #offer(row: number): void {
    const time = this.#filter.timeOf(row);
    const id = this.#core.jobs.num(row, ID);
    const { after } = this.#options;
    if (after !== undefined && !this.#first.isBefore(after.time, after.id, time, id)) return;
    this.#first.offer(time, id, row);
  }

  /** The page, and where the next one begins; undefined: there is none. */
  found(): { jobs: FoundView[]; next: JobPlace | undefined } {
    const { jobs } = this.#core;
    const { limit } = this.#options;
    const places = this.#first.sorted();
    const page = places.slice(0, limit);
    const there = page.filter(
      ({ id, row }) => jobs.num(row, ID) === id && this.#filter.matches(row),
    );
    const last = page.at(-1);
    const isMore = places.length > limit && last !== undefined;
    return {
      jobs: there.map(({ row }) => foundView(this.#core, row)),
      next: isMore ? { time: last.time, id: last.id } : undefined,
    };
  }
}

export function foundView(core: Core, row: number): FoundView {
  const view = viewOf(core, row);
  return { ...view, changedAt: changedAt(core, row), sizeBytes: core.jobs.int(row, SIZE) };
}

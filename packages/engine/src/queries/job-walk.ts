import type { Core } from "../core.ts";
import { ID, SEQ } from "../jobs/job-fields.ts";
import type { JobState } from "../types.ts";
import { type JobFilter, RowFilter } from "./job-filter.ts";
import { stateOf } from "./view.ts";

/** Jobs in the order of their rows, which means nothing, but lasts while the process does. */
export class JobWalk {
  readonly #core: Core;
  readonly #filter: RowFilter;
  #row: number;

  constructor(core: Core, filter: JobFilter, fromRow = 1) {
    this.#core = core;
    this.#filter = new RowFilter(core, filter);
    this.#row = Math.max(1, fromRow);
  }

  /** The row that is looked at next, and one past the last. */
  get row(): number {
    return this.#row;
  }

  get end(): number {
    return this.#core.jobs.end;
  }

  get isOver(): boolean {
    return this.#row >= this.end;
  }

  /** The ids of the next jobs, after a bounded number of rows; there may be none among them. */
  next(max: number): number[] {
    const ids: number[] = [];
    const end = Math.min(this.end, this.#row + this.#filter.rowsPerStep);
    for (; this.#row < end && ids.length < max; this.#row++) {
      if (this.#filter.matches(this.#row)) ids.push(this.#core.jobs.num(this.#row, ID));
    }
    return ids;
  }

  /** Whether a job is known, and still one of those that are meant. */
  matches(id: number): boolean {
    const row = this.#core.ids.find(id);
    return row !== 0 && this.#filter.matches(row);
  }

  /** A job's place in the order of entries, which every change of its state but a lease renews. */
  placeOf(id: number): number {
    const row = this.#core.ids.find(id);
    return row === 0 ? Number.POSITIVE_INFINITY : this.#core.jobs.num(row, SEQ);
  }
}

/** How many jobs are meant, by state and by queue. */
export class JobCount {
  readonly #core: Core;
  readonly #filter: RowFilter;
  readonly states = new Map<JobState, number>();
  readonly queues = new Map<string, number>();
  count = 0;
  #row = 1;

  constructor(core: Core, filter: JobFilter) {
    this.#core = core;
    this.#filter = new RowFilter(core, filter);
  }

  /** Looks at the next jobs, a bounded number. Returns whether there are more. */
  step(): boolean {
    const { jobs } = this.#core;
    const end = Math.min(jobs.end, this.#row + this.#filter.rowsPerStep);
    for (; this.#row < end; this.#row++) if (this.#filter.matches(this.#row)) this.#add(this.#row);
    return this.#row < jobs.end;
  }

  /** Counts one job, if it is known and meant. */
  look(id: number): void {
    const row = this.#core.ids.find(id);
    if (row !== 0 && this.#filter.matches(row)) this.#add(row);
  }

  #add(row: number): void {
    this.count++;
    const state = stateOf(this.#core, row);
    this.states.set(state, (this.states.get(state) ?? 0) + 1);
    const { name } = this.#core.queueOf(row);
    this.queues.set(name, (this.queues.get(name) ?? 0) + 1);
  }
}

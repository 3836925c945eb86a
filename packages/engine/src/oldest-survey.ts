import type { Core } from "./core.ts";
import { ADDED, ID, WAITING_JOB } from "./job-fields.ts";
import { FLOW, HEAD, IN_LANE, KIND, QUEUE } from "./nodes.ts";

/** A job that waits, and since when it is there. */
export interface OldestJob {
  id: number;
  addedAt: number;
}

/** Rows looked at in one step. */
const ROWS_PER_STEP = 20_000;

/**
 * A walk over the fronts of all lines, a step at a time: for each queue the job that was added
 * first among those that would go next. A retried job that stands further back is not seen, as a
 * look at every job would cost as much as there are jobs.
 */
export class OldestSurvey {
  readonly #core: Core;
  readonly #byQueue: (OldestJob | undefined)[] = [];
  #row = 1;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Goes on for a bounded number of lines; answers whether there are more. */
  step(): boolean {
    const { nodes } = this.#core.rings;
    const end = Math.min(nodes.end, this.#row + ROWS_PER_STEP);
    for (; this.#row < end; this.#row++) this.#look(this.#row);
    return this.#row < nodes.end;
  }

  #look(row: number): void {
    const { jobs, lanes } = this.#core;
    if (lanes.get(row, KIND) !== FLOW) return;
    const head = lanes.get(row, HEAD);
    if (head === 0 || jobs.state(head) !== WAITING_JOB) return;
    const queue = lanes.get(lanes.get(row, IN_LANE), QUEUE);
    const addedAt = jobs.num(head, ADDED);
    const known = this.#byQueue[queue];
    if (known !== undefined && known.addedAt <= addedAt) return;
    this.#byQueue[queue] = { id: jobs.num(head, ID), addedAt };
  }

  /** By the names of the queues that have something waiting. */
  oldest(): Map<string, OldestJob> {
    const found = new Map<string, OldestJob>();
    for (const [index, job] of this.#byQueue.entries()) {
      const queue = this.#core.queues[index];
      if (job !== undefined && queue !== undefined) found.set(queue.name, job);
    }
    return found;
  }
}

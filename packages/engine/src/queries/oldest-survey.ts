import type { Core } from "../core.ts";
import {
  ADDED,
  DELAYED_JOB,
  HELD_JOB,
  ID,
  JOB_INTS,
  META,
  TIME,
  WAITING_JOB,
} from "../jobs/job-fields.ts";

/** Of one queue: the job that was added first among those that wait, and the next that is due. */
export interface OldestJob {
  /** 0: none waits. */
  id: number;
  addedAt: number;
  /** Infinity: none is delayed. */
  nextDueAt: number;
}

/** Rows looked at in one step: about a millisecond. */
const ROWS_PER_STEP = 50_000;

/**
 * A walk over all jobs, a step at a time. Looking only at the fronts of lanes would be quicker, but
 * would miss a failed job further back, which is older than the jobs before it. A million jobs take
 * about 25 ms.
 */
export class OldestSurvey {
  readonly #core: Core;
  readonly #byQueue: (OldestJob | undefined)[] = [];
  #row = 1;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Looks at the next jobs, a bounded number. Returns whether there are more. */
  step(): boolean {
    const { jobs } = this.#core;
    // A table that grows gets another array, so every step reads it again.
    const { i: ints, f: doubles } = jobs;
    const end = Math.min(jobs.end, this.#row + ROWS_PER_STEP);
    for (; this.#row < end; this.#row++) {
      const at = this.#row * JOB_INTS;
      const meta = ints[at + META]!;
      const state = meta & 15;
      if (state === WAITING_JOB || state === HELD_JOB) this.#wait(meta >>> 8, doubles, at >>> 1);
      else if (state === DELAYED_JOB) this.#delay(meta >>> 8, doubles[(at >>> 1) + TIME]!);
    }
    return this.#row < jobs.end;
  }

  #wait(queue: number, doubles: Float64Array, at: number): void {
    const known = this.#of(queue);
    const addedAt = doubles[at + ADDED]!;
    if (known.addedAt <= addedAt) return;
    known.id = doubles[at + ID]!;
    known.addedAt = addedAt;
  }

  #delay(queue: number, dueAt: number): void {
    const known = this.#of(queue);
    if (dueAt < known.nextDueAt) known.nextDueAt = dueAt;
  }

  #of(queue: number): OldestJob {
    const none = Number.POSITIVE_INFINITY;
    this.#byQueue[queue] ??= { id: 0, addedAt: none, nextDueAt: none };
    return this.#byQueue[queue];
  }

  /** By the names of the queues that have something waiting or delayed. */
  oldest(): Map<string, OldestJob> {
    const found = new Map<string, OldestJob>();
    for (const [index, job] of this.#byQueue.entries()) {
      const queue = this.#core.queues[index];
      if (job !== undefined && queue !== undefined) found.set(queue.name, job);
    }
    return found;
  }
}

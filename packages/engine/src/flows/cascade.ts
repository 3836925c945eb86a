/**
 * Cancels a job and what it waits for: each dependency that has not ended and that no other live
 * job waits for, and so on. All of it is one call, so that a crash keeps all of it or nothing.
 */
import type { Core } from "../core.ts";
import { Refusal } from "../errors.ts";
import { ENDED_JOB, ID } from "../jobs/job-fields.ts";
import { BATCH_JOBS_MAX } from "../limits.ts";
import { cancel } from "../verbs/end.ts";
import { firstEdge } from "./blocked.ts";
import { FROM, JOB, NEXT_IN, TO } from "./links.ts";

/** Edges looked at: some milliseconds. */
const EDGES_MAX = 10 * BATCH_JOBS_MAX;

/** False when the job had ended; then what it waited for is let alone. */
export function cancelWithDependencies(core: Core, row: number, now: number): boolean {
  if (core.jobs.state(row) === ENDED_JOB) return false;
  const rows = new Cascade(core, row).rows();
  // The job itself is the first, so that it is cancelled and does not fail by the others.
  for (const one of rows) cancel(core, one, now);
  return true;
}

class Cascade {
  readonly #core: Core;
  readonly #first: number;
  readonly #rows = new Set<number>();
  #edges = 0;

  constructor(core: Core, row: number) {
    this.#core = core;
    this.#first = row;
  }

  rows(): ReadonlySet<number> {
    const { links } = this.#core.flows;
    // A set is walked in the order in which it is filled.
    this.#rows.add(this.#first);
    for (const row of this.#rows) {
      for (let edge = firstEdge(this.#core, row); edge !== 0; edge = links.edge(edge, NEXT_IN)) {
        this.#count();
        const from = links.node(links.edge(edge, FROM), JOB);
        if (from !== 0 && !this.#rows.has(from) && this.#isOnlyOurs(from)) this.#rows.add(from);
      }
      if (this.#rows.size > BATCH_JOBS_MAX) throw this.#tooMany();
    }
    return this.#rows;
  }

  /** Whether it is live, and all live jobs that wait for it are cancelled too. */
  #isOnlyOurs(row: number): boolean {
    const { flows, jobs } = this.#core;
    const { links } = flows;
    if (jobs.state(row) === ENDED_JOB || this.#core.queueOf(row).deleted) return false;
    const node = jobs.node(row);
    for (let edge = links.firstFrom(node); edge !== 0; edge = links.nextFrom(edge)) {
      this.#count();
      const to = links.node(links.edge(edge, TO), JOB);
      if (to !== 0 && !this.#rows.has(to) && jobs.state(to) !== ENDED_JOB) return false;
    }
    return true;
  }

  #count(): void {
    if (++this.#edges > EDGES_MAX) throw this.#tooMany();
  }

  #tooMany(): Refusal {
    const id = this.#core.jobs.num(this.#first, ID);
    const message =
      `job ${id} waits for more than ${BATCH_JOBS_MAX} jobs: ` +
      "cancel it, and then those that it waits for, by pages of `dependencies`";
    return new Refusal("LIMIT_REACHED", message, { field: "id", value: id });
  }
}

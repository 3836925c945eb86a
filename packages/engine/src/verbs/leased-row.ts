import type { Core } from "../core.ts";
import { Refusal } from "../errors.ts";
import { ENDED_JOB, LEASE, LEASED_JOB } from "../jobs/job-fields.ts";

/** The row of a job that this lease holds. */
export function leasedRow(core: Core, id: number, lease: number): number {
  const row = core.find(id);
  const state = row === 0 ? ENDED_JOB : core.jobs.state(row);
  if (state === ENDED_JOB) {
    throw new Refusal("ALREADY_FINISHED", `job ${id} has ended`, { field: "id", value: id });
  }
  if (state !== LEASED_JOB || core.jobs.int(row, LEASE) !== lease) {
    throw new Refusal("LEASE_LOST", `lease ${lease} of job ${id} is over`, {
      field: "lease",
      value: lease,
    });
  }
  return row;
}

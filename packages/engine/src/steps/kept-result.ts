/**
 * The result of a job that others wait for is kept until the last of them has ended, and there may
 * be a hundred thousand of those. A large one is kept as the results of steps are, under a name
 * that no step can have: its bytes are a body, which pages out of memory and moves with the log.
 */
import type { Core } from "../core.ts";
import { ID } from "../jobs/job-fields.ts";
import { applyStep } from "./record-step.ts";
import { OWN_RESULT } from "./step-names.ts";
import type { StepName } from "./step-types.ts";

const RESULT: StepName = { name: OWN_RESULT, occurrence: 0 };

/** A result as a body of its own. */
export interface ResultBody {
  readonly sizeBytes: number;
  readonly body: unknown;
}

/** Keeps the result of a leased job that is about to finish; false: no other waits for it. */
export function keepResult(core: Core, row: number, result: ResultBody, now: number): boolean {
  if (core.jobs.node(row) === 0) return false;
  const id = core.jobs.num(row, ID);
  const step = { ...RESULT, kind: "run" as const, ...result };
  core.tell({ at: now, fact: "step", id, queue: core.queueOf(row).name, ...step });
  applyStep(core, row, step, now);
  return true;
}

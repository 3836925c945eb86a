import type { Core } from "../core.ts";
import { enterStrand } from "../jobs/moves.ts";
import { watchWaits } from "../verbs/begin.ts";
import { needNotebook, newStep } from "./notebook.ts";
import { stepKey } from "./step-names.ts";

/** Whether a delayed job is suspended for a step, and not for another reason. */
export function isSuspended(core: Core, row: number): boolean {
  return core.jobs.extra(row)?.steps?.pending !== undefined;
}

/** The time of a suspended job has come, or its signal: it goes to the front of its strand. */
export function resume(core: Core, row: number, now: number): void {
  const book = needNotebook(core, row);
  const pending = book.pending!;
  const key = stepKey(pending);
  if (pending.kind !== "run") {
    if (book.steps.get(key)?.isDone !== true) {
      book.steps.set(key, { ...newStep(pending, now), isDone: true });
      core.queueOf(row).counters.steps++;
    }
    book.pending = undefined;
  }
  enterStrand(core, row, now, true);
  watchWaits(core, row);
}

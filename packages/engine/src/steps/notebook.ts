/** What a job remembers of its steps: made, looked at and forgotten. */
import type { Core } from "../core.ts";
import type { Extra } from "../jobs/job-table.ts";
import { isOwnResult, RESULT_KEY } from "./step-names.ts";
import type { Notebook, StepEntry, StepKind, StepName } from "./step-types.ts";

export function newNotebook(): Notebook {
  const pending = undefined;
  return { steps: new Map(), signals: [], signalled: 0, bytes: 0, pending, base: undefined };
}

export function newStep(of: StepName & { kind: StepKind }, at: number): StepEntry {
  const { name, occurrence, kind } = of;
  const none = { failures: 0, error: undefined, signal: -1, sizeBytes: 0, body: undefined };
  return { name, occurrence, kind, at, isDone: false, ...none };
}

export function notebookOf(core: Core, row: number): Notebook | undefined {
  return core.jobs.extra(row)?.steps;
}

export function needNotebook(core: Core, row: number): Notebook {
  const extra = core.jobs.needExtra(row);
  extra.steps ??= newNotebook();
  return extra.steps;
}

/** A handler has begun with the steps of the job: its payload must not change any more. */
export function hasStarted(core: Core, row: number): boolean {
  const book = notebookOf(core, row);
  return book !== undefined && (book.pending !== undefined || book.steps.size > 0);
}

/** The job's attempt is over: its steps have all their own attempts again. */
export function forgetFailures(core: Core, row: number): void {
  const book = notebookOf(core, row);
  if (book === undefined) return;
  for (const [key, step] of book.steps) if (!step.isDone) book.steps.delete(key);
}

/** The results of a job that has ended are gone, but its own; its steps can still be seen. */
export function forgetResults(core: Core, book: Notebook): void {
  for (const step of book.steps.values()) if (!isOwnResult(step)) forgetBody(core, step);
  for (const signal of book.signals) forgetBody(core, signal);
  book.bytes = 0;
}

export function forgetBody(core: Core, of: { body: unknown; sizeBytes: number }): void {
  if (of.body !== undefined) core.gone(of.body, of.sizeBytes);
  of.body = undefined;
}

/** The result of an ended job: as it was given, or its body. */
export function resultOf(extra: Extra | undefined): unknown {
  return extra?.result ?? extra?.steps?.steps.get(RESULT_KEY)?.body;
}

/** The job runs again, or is forgotten. */
export function forgetResult(core: Core, book: Notebook): void {
  const kept = book.steps.get(RESULT_KEY);
  if (kept !== undefined) forgetBody(core, kept);
}

import type { Core } from "../core.ts";
import { Refusal } from "../errors.ts";
import { DELAYED_JOB, ENDED_JOB, ID } from "../jobs/job-fields.ts";
import { SIGNALS_MAX } from "../limits.ts";
import { applyDue } from "../verbs/tick.ts";
import { needNotebook, notebookOf } from "./notebook.ts";
import { applyStep, checkBytes, rebind } from "./record-step.ts";

export interface Signal {
  index: number;
  name: string;
  sizeBytes: number;
  body: unknown;
}

/** A value for a job: the step that waits for it takes it, or it is kept for one that will. */
export function signal(core: Core, row: number, of: Omit<Signal, "index">, now: number): void {
  const { jobs } = core;
  const id = jobs.num(row, ID);
  if (jobs.state(row) === ENDED_JOB) {
    throw new Refusal("ALREADY_FINISHED", `job ${id} has ended`, { field: "id", value: id });
  }
  const book = notebookOf(core, row);
  const kept = book?.signals.filter(({ isTaken }) => !isTaken).length ?? 0;
  if (kept >= SIGNALS_MAX) {
    const message = `a job keeps at most ${SIGNALS_MAX} signals that no step has taken`;
    throw new Refusal("LIMIT_REACHED", message, { field: "name", value: of.name });
  }
  checkBytes((book?.bytes ?? 0) + of.sizeBytes);
  const index = book?.signalled ?? 0;
  const queue = core.queueOf(row).name;
  const told = { ...of, index };
  core.tell({ at: now, fact: "signalled", id, queue, ...told });
  applySignal(core, row, told, now);
  const { pending } = notebookOf(core, row)!;
  const isAwaited = jobs.state(row) === DELAYED_JOB && pending?.kind === "wait";
  if (!isAwaited || pending.name !== of.name) return;
  const { name, occurrence, kind } = pending;
  const step = { name, occurrence, kind, sizeBytes: 0, signal: index };
  core.tell({ at: now, fact: "step", id, queue, ...step });
  core.tell({ at: now, fact: "due", id });
  applyStep(core, row, { ...step, body: undefined }, now);
  applyDue(core, row, now, undefined);
}

export function applySignal(core: Core, row: number, of: Signal, now: number): void {
  const book = needNotebook(core, row);
  const { index, name, sizeBytes, body } = of;
  const known = book.signals.find((signal) => signal.index === index);
  if (known !== undefined) return rebind(core, known, body);
  book.signals.push({ index, name, at: now, isTaken: false, sizeBytes, body });
  book.signalled = Math.max(book.signalled, index + 1);
  book.bytes += sizeBytes;
  core.queueOf(row).counters.signals++;
}

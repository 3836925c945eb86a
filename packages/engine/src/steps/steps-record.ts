import type { Core } from "../core.ts";
import type { SignalledFact, StepFact, StepsRecord } from "../facts/facts.ts";
import { newNotebook } from "./notebook.ts";
import { isOwnResult, RESULT_KEY, stepKey } from "./step-names.ts";
import type { Notebook } from "./step-types.ts";

/** What a job remembers of its steps, as its record tells it: without results and values. */
export function stepsRecord(book: Notebook): StepsRecord {
  const record: StepsRecord = {
    steps: Array.from(book.steps.values(), ({ body: _, error, ...step }) => {
      return error === undefined ? step : { ...step, error };
    }),
    signals: book.signals.map(({ body: _, ...signal }) => signal),
    signalled: book.signalled,
  };
  if (book.pending !== undefined) record.pending = book.pending;
  if (book.base !== undefined) record.base = book.base;
  return record;
}

/** The reverse; results and values that were met before are there again. */
export function restoreSteps(core: Core, job: number, record: StepsRecord): Notebook {
  const parts = core.orphans.take(job);
  const book = newNotebook();
  const own = parts?.get(RESULT_KEY);
  // It has run again since.
  if (own !== undefined && !record.steps.some(isOwnResult)) core.gone(own.body, own.sizeBytes);
  for (const step of record.steps) {
    const body = parts?.get(partKey({ fact: "step", ...step }))?.body;
    book.steps.set(stepKey(step), { error: undefined, ...step, body });
    book.bytes += step.sizeBytes;
  }
  for (const signal of record.signals) {
    const body = parts?.get(partKey({ fact: "signalled", ...signal }))?.body;
    book.signals.push({ ...signal, body });
    book.bytes += signal.sizeBytes;
  }
  book.signalled = record.signalled;
  book.pending = record.pending;
  book.base = record.base;
  return book;
}

type PartName =
  | Pick<StepFact, "fact" | "name" | "occurrence">
  | Pick<SignalledFact, "fact" | "index">;

/** Names a result or a value among those of its job. */
export function partKey(of: PartName): string {
  return of.fact === "step" ? stepKey(of) : `signal ${of.index}`;
}

/** Where the body of a result or a value is kept; undefined: there is no such step or signal. */
export function partOf(
  core: Core,
  of: PartName & { id: number },
): { body: unknown; sizeBytes: number } | undefined {
  const row = core.ids.find(of.id);
  const book = row === 0 ? undefined : core.jobs.extra(row)?.steps;
  if (of.fact === "step") return book?.steps.get(stepKey(of));
  return book?.signals.find(({ index }) => index === of.index);
}

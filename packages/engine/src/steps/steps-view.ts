import { isOwnResult } from "./step-names.ts";
import type { Notebook, Pending, SignalEntry, StepEntry } from "./step-types.ts";

/** What a job remembers of its steps. The objects are the engine's own: they must not change. */
export interface StepsView {
  readonly steps: readonly Readonly<StepEntry>[];
  readonly signals: readonly Readonly<SignalEntry>[];
  /** The step that a suspended job waits for, or that a running one has the gates of. */
  readonly pending: Readonly<Pending> | undefined;
}

export function stepsView(book: Notebook | undefined): StepsView {
  if (book === undefined) return { steps: [], signals: [], pending: undefined };
  const { steps, signals, pending } = book;
  return { steps: [...steps.values()].filter((step) => !isOwnResult(step)), signals, pending };
}

/**
 * What a job remembers of its steps.
 *
 * A *step* is a named part of a handler. It is found by its name and its occurrence: the second
 * `run("charge")` of one run of the handler has the occurrence 1. Its kinds are `run`, `sleep` and
 * `wait` (for a signal); one name has one kind. A step that is done is never done again: its result
 * is a body like that of a job, which the engine carries and does not look into.
 *
 * A *signal* is a value sent to a job under a name. The first `wait` of that name that finds it
 * takes it. Until then it is kept.
 *
 * A job is *suspended* for one step at a time (`pending`): it holds no lease and no permit. It
 * sleeps or waits for a signal as a delayed job, or it waits at the gates of the step, in addition
 * to its own, in the strand of both. When it runs again with `pending` gates, they are granted to
 * that step and no other; `base` is what it had before. Its own gates are all it has again when the
 * result is recorded, or when the run is over in any other way.
 */
export type StepKind = "run" | "sleep" | "wait";

export interface StepName {
  name: string;
  /** 0 for the first of its name in one run of the handler. */
  occurrence: number;
}

export interface StepEntry extends StepName {
  kind: StepKind;
  /** When it was done, or failed last. */
  at: number;
  isDone: boolean;
  /** How often it has failed since the last attempt of the job. */
  failures: number;
  error: string | undefined;
  /** Of a wait that is done: the number of the signal it took; -1: none came in time. */
  signal: number;
  sizeBytes: number;
  body: unknown;
}

export interface SignalEntry {
  /** Counts the signals of the job. */
  index: number;
  name: string;
  at: number;
  isTaken: boolean;
  sizeBytes: number;
  body: unknown;
}

export interface Pending extends StepName {
  kind: StepKind;
}

export interface Notebook {
  readonly steps: Map<string, StepEntry>;
  readonly signals: SignalEntry[];
  /** Signals so far. */
  signalled: number;
  /** Of all results and signals. */
  bytes: number;
  pending: Pending | undefined;
  base: { gates: readonly string[]; cost: number } | undefined;
}

import type {
  DedupeMode,
  EndState,
  FairnessKey,
  JobSpec,
  JobState,
  JobView,
  NackOptions,
  OnDependencyFailure,
} from "@sluice/engine";
import type { ErrorJson } from "./errors.ts";

export type {
  AttemptView as AttemptInfo,
  DedupeMode,
  EndState,
  FairnessKey,
  GatePart,
  HistoryEntry,
  JobState,
  LogLine,
  RetryPolicy,
} from "@sluice/engine";

/**
 *   waiting     ready to run, or held back by a gate
 *   delayed     not due yet
 *   blocked     waits for other jobs
 *   running     held by a worker under a lease
 *   finished    acked
 *   failed      its last failure was final and its queue has no dead letter queue, or a gate would
 *               have kept it longer than its `maxWait`
 *   cancelled   by a call, a purge or the deletion of its queue
 *   expired     its deadline has passed
 *   dead        a letter in a dead letter queue
 */
export const JOB_STATES = [
  ...(["waiting", "delayed", "blocked", "running"] as const),
  ...(["finished", "failed", "cancelled", "expired", "dead"] as const),
] as const satisfies readonly JobState[];

/** Whether a job in this state is over. A dead letter can still be read, retried or cancelled. */
export function hasEnded(state: JobState): state is Exclude<EndState, "dead"> {
  return ENDED.has(state);
}

const ENDED: ReadonlySet<JobState> = new Set(["finished", "failed", "cancelled", "expired"]);

/** The options of a job as they travel: the engine's own form, and what the broker carries. */
export interface JobFields
  extends Omit<
    JobSpec,
    "body" | "sizeBytes" | "policyGates" | "dedupe" | "schedule" | "dependencies" | "flow"
  > {
  /** Jobs that must have ended before this one is eligible. */
  after?: readonly After[] | undefined;
  /** The mode is `pending` when none is given. */
  dedupe?: (Omit<Dedupe, "mode"> & { mode?: DedupeMode | undefined }) | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

type Dedupe = NonNullable<JobSpec["dedupe"]>;

/** A job that another one waits for, and what its failure does to that one; default `fail`. */
export interface After {
  id: string;
  onDependencyFailure?: OnDependencyFailure | undefined;
}

export interface NewJob extends JobFields {
  payload: Uint8Array;
}

export interface Added {
  id: string;
  /** The tier the job was put into; it may have been spilled. */
  tier: number;
  /** Dedupe answered with a job that was there already. */
  duplicate?: true;
  /** The queue was full and its policy is to drop: there is no such job, and `id` is empty. */
  dropped?: true;
}

/** The answer for one item of a batch. */
export type Outcome<T> = { ok: T; error?: undefined } | { ok?: undefined; error: ErrorJson };

/** A dispatched job. The payload may be a view of a larger buffer, which is never written again. */
export interface LeasedJob {
  id: string;
  /** The token under which the job is held: names the job and the delivery. */
  lease: string;
  queue: string;
  /** 0 on the first delivery. */
  attempt: number;
  attempts: number;
  /** How often it was handed out, this time included; a redrive or retry by hand starts over. */
  deliveries: number;
  /** It has recorded steps, or was suspended for one: `steps` has them. */
  hasSteps?: true;
  tier: number;
  fairnessKey: FairnessKey;
  addedAt: number;
  /** When the lease ends by the broker's clock, and how long that is from the delivery. */
  expiresAt: number;
  expiresIn: number;
  headers: Readonly<Record<string, string>>;
  payload: Uint8Array;
}

export interface Ack {
  lease: string;
  result?: Uint8Array | undefined;
}

export interface Nack extends Omit<NackOptions, "spare"> {
  lease: string;
  /**
   * Gates (names, prefixes that end in `*`, or `*`) that the caller may cool down and blame, beside
   * those that the queue's policy put on the job. Absent: all. A server sets it for each key.
   */
  mayCool?: readonly string[] | undefined;
}

export interface Extend {
  lease: string;
  leaseMs: number;
}

/** Lines about a job, of up to 1 KiB each; the newest 200 are kept with it. */
export interface Logged {
  lease: string;
  lines: readonly string[];
}

export interface Progress {
  lease: string;
  /** Anything that JSON can carry in 8 KiB. It is kept with the job, also over a restart. */
  progress: unknown;
}

export type StepKind = "run" | "sleep" | "wait";

/** A step of a handler, by its name and how many of that name came before it in the same run. */
export interface StepName {
  name: string;
  occurrence: number;
}

/** The result of a step that ran. */
export interface StepResult extends StepName {
  lease: string;
  /** Anything that JSON can carry in 1 MiB; absent: the step has no result. */
  value?: unknown;
}

/** What a leased job waits for, without a worker. */
export interface Suspension extends StepName {
  lease: string;
  kind: StepKind;
  /**
   * How long it sleeps, waits for a signal at the longest, or until a step that failed is retried.
   * Absent for a wait: without an end.
   */
  delayMs?: number | undefined;
  /** Instead of a delay: a time on the wall clock. */
  runAt?: number | undefined;
  /** Gates that must let the job pass before the step runs, in addition to its own. */
  gates?: readonly string[] | undefined;
  /** What the job takes from all its gates for this step. */
  cost?: number | undefined;
  /** The step has failed: how often by now, and of what. */
  failures?: number | undefined;
  error?: string | undefined;
}

/** A step of a job as it is remembered. */
export interface StepInfo extends StepName {
  kind: StepKind;
  /** When it was done, or failed last. */
  at: number;
  isDone: boolean;
  /** Its result, or the value of the signal that it waited for; gone when the job has ended. */
  value?: unknown;
  /** No signal came in time. */
  isLate?: true;
  failures?: number;
  error?: string;
}

export interface StepsInfo {
  items: readonly StepInfo[];
  cursor?: string;
  /** What the job is suspended for, or the step whose gates a running job has passed. */
  pending?: StepName & { kind: StepKind };
  /** Signals that no step has taken. */
  signals: readonly { name: string; at: number }[];
}

/** A job as callers see it. Its fields are those of the engine, and what the broker keeps. */
export interface JobInfo
  extends Omit<
    JobView,
    "id" | "lease" | "policyGates" | "waited" | "schedule" | "body" | "result"
  > {
  id: string;
  /** The schedule that added it, and for which tick. */
  schedule?: { name: string; tick: number };
  headers: Readonly<Record<string, string>>;
  payload: Uint8Array;
  result?: Uint8Array;
}

/** How a job ended, for callers that wait for its end. */
export interface JobEnd {
  id: string;
  queue: string;
  state: EndState;
  at: number;
  error?: string;
  result?: Uint8Array;
  /** Of a job that a gate would have kept too long: the gate, for how long, what was allowed. */
  waited?: { gate: string; wait: number; maxWait: number };
}

/** Which run of a job this is. A job that is not kept any more has no generation. */
export interface JobLife {
  /** The random identity of the log that holds it. */
  log: string;
  /** How often it died, was redriven or was retried after its end. */
  generation?: number;
  isEnded: boolean;
}

export interface GroupInfo {
  /** The full name: `orders/batch-7`. */
  id: string;
  ended: boolean;
  members: readonly { id: string; state?: EndState }[];
}

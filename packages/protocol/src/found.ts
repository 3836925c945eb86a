/** Jobs of all queues: how they are looked for, what is answered, and what is done with them. */
import type { JobFilter as EngineFilter, FailureView, JobTime } from "@sluice/engine";
import type { FairnessKey, JobInfo, JobState } from "./job.ts";

export type { JobTime } from "@sluice/engine";

export const JOB_TIMES = ["added", "changed"] as const satisfies readonly JobTime[];
export const JOB_ORDERS = ["newest", "oldest"] as const;
export type JobOrder = (typeof JOB_ORDERS)[number];

/** Which jobs are meant: those for which everything holds that is given. */
export interface JobFilter extends Omit<EngineFilter, "key" | "failure"> {
  ids?: readonly string[] | undefined;
  /** The fairness key; a dead letter also has the one that it had where it came from. */
  lane?: FairnessKey | undefined;
  /** The id of a group of `failures`. */
  failure?: string | undefined;
  /** The name of a header, or `name=value`. */
  header?: string | undefined;
  /** A part of the payload. */
  text?: string | undefined;
}

/** A job in a list over all queues. */
export interface FoundJob
  extends Pick<JobInfo, "id" | "queue" | "state" | "tier" | "fairnessKey" | "attempt" | "attempts">,
    Pick<JobInfo, "addedAt" | "at" | "worker" | "error" | "dead" | "group" | "dedupe"> {
  /** When it came into its state. */
  changedAt: number;
  /** How the payload begins, as text. */
  preview: string;
  payloadBytes: number;
}

/** How far a scan of payloads is: jobs looked at, of how many. Absent: it needed none. */
export interface ScanProgress {
  scanned?: number;
  total?: number;
}

/** A page of jobs. With `text` or `header` it may be empty and have a cursor: go on with that. */
export interface FoundJobs extends ScanProgress {
  items: readonly FoundJob[];
  cursor?: string;
}

/** How many jobs are meant. With `text` or `header`: since the cursor; add the counts up. */
export interface JobCounts extends ScanProgress {
  count: number;
  states: Partial<Record<JobState, number>>;
  queues: readonly { queue: string; count: number }[];
  cursor?: string;
}

/** Jobs whose last errors differ in numbers and ids at most. */
export interface FailureGroup
  extends Omit<FailureView, "failure" | "trend" | "queues" | "example"> {
  id: string;
  /** Jobs by the hour in which they failed last; the last is the hour that ends now. */
  trend: readonly number[];
  /** Where they failed: of dead letters, where they came from. */
  queues: readonly { queue: string; jobs: number }[];
  /** The job that failed last. */
  example: { id: string; queue: string; error: string; stack?: string; at: number };
}

export interface Failures {
  /** Those with the most jobs first. */
  items: readonly FailureGroup[];
  /** How many groups there are. */
  total: number;
}

export const BULK_ACTIONS = ["retry", "cancel", "delete", "run", "move"] as const;

/**
 * What is done with many jobs.
 *
 *   retry    dead letters return to their queue, ended jobs run again; with `to`, in that queue
 *   cancel   jobs that have not ended are cancelled
 *   delete   jobs are forgotten; those that have not ended are cancelled first
 *   run      delayed jobs are due now
 *   move     jobs that wait, are delayed or dead go to the queue `to`
 */
export type BulkAction = (typeof BULK_ACTIONS)[number];

/** An action on many jobs, and how far it is. */
export interface BulkInfo {
  id: string;
  action: BulkAction;
  /** The jobs that are meant, with the states that the action has by default. */
  filter: JobFilter;
  to?: string;
  /** Their payload was replaced. */
  edited?: true;
  /** `counted`: only that was asked for. */
  state: "running" | "done" | "stopped" | "counted";
  /** Jobs that were meant when it started; absent until a scan of payloads is over. */
  matched?: number;
  /** Jobs that it was done with, and that refused it. */
  done: number;
  refused: number;
  /** Why the first one did. */
  refusal?: string;
  startedAt: number;
  endedAt?: number;
  /** Who started it. */
  by?: string;
}

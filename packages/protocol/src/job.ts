import type { DedupeMode, EndState, FairnessKey, JobSpec, JobState } from "@sluice/engine";
import type { ErrorJson } from "./errors.ts";

export type {
  DedupeMode,
  EndState,
  FairnessKey,
  GatePart,
  HistoryEntry,
  JobState,
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
export interface JobFields extends Omit<JobSpec, "body" | "sizeBytes" | "policyGates" | "dedupe"> {
  /** The mode is `pending` when none is given. */
  dedupe?: (Omit<Dedupe, "mode"> & { mode?: DedupeMode | undefined }) | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

type Dedupe = NonNullable<JobSpec["dedupe"]>;

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

export interface Nack {
  lease: string;
  error?: string | undefined;
  /** Where the error was thrown: kept with the job as long as the error is, up to 4 KiB. */
  stack?: string | undefined;
  /** Instead of the backoff. */
  delayMs?: number | undefined;
  /** Cool this gate down: uses no attempt. */
  cooldown?: { gate: string; ms: number; reason?: string | undefined } | undefined;
  /** Gates whose ladders hear of the failure; absent: all gates of the job that have one. */
  blame?: readonly string[] | false | undefined;
  /** Do not retry. */
  unrecoverable?: boolean | undefined;
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

export interface Progress {
  lease: string;
  /** Anything that JSON can carry in 8 KiB. It is kept with the job, also over a restart. */
  progress: unknown;
}

export interface JobInfo {
  id: string;
  queue: string;
  state: JobState;
  tier: number;
  fairnessKey: FairnessKey;
  weight: number;
  gates: readonly string[];
  cost: number;
  attempt: number;
  attempts: number;
  /** How often it was handed out since it was added, redriven or retried by hand. */
  deliveries: number;
  addedAt: number;
  /** When it falls due (delayed), its lease ends (running) or it ended. */
  at?: number;
  deadline?: number;
  /** The last error, and the stack that its worker told with it. */
  error?: string;
  stack?: string;
  /** In full: `orders/batch-7`. */
  group?: string;
  dedupe?: string;
  /** For a dead letter: the queue it came from, why and when it died, the attempts it had. */
  dead?: { origin: string; reason: string; attempts: number; at: number };
  worker?: string;
  progress?: unknown;
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

export interface GroupInfo {
  /** The full name: `orders/batch-7`. */
  id: string;
  ended: boolean;
  members: readonly { id: string; state?: EndState }[];
}

/**
 * The words of the engine, and the shapes of what goes in and comes out.
 *
 * job      one unit of work: opaque payload (kept outside) plus scheduling metadata
 * queue    a named set of jobs under one policy
 * tier     priority level inside a queue, 0 is the most urgent
 * lane     the jobs of one fairness key inside a tier; has a weight; a path has up to 4 levels
 * strand   inside a lane, the FIFO of jobs that name the same set of gates
 * gate     a named limit a job must pass to be dispatched
 * lease    a dispatched job, held by one worker under a token until ack, nack, extend or expiry
 * schedule a named plan that adds a job to its queue at each tick
 * fact     one durable record of something that happened; replaying all facts rebuilds the state
 *
 * Times are milliseconds (`now` is given with every call and never goes back), durations end in
 * `Ms`. The engine never asks what time it is.
 */

import type { GateConfig, GatePart } from "./gates/gate-state.ts";
import type { Backoff } from "./jobs/backoff.ts";
import type { ScheduleRun } from "./schedules/schedule.ts";

/** A fairness key: one level as a string (never split), several levels as an array. */
export type FairnessKey = string | readonly string[];

/** A letter is `dead` while it lies in its dead letter queue. */
export type JobState = "waiting" | "delayed" | "blocked" | "running" | EndState;

/** How a job ended, once it has. */
export type EndState = "finished" | "failed" | "cancelled" | "expired" | "dead";

/** The same, as facts and rows keep it. */
export type Ending = "finished" | "failed" | "cancelled" | "expired" | "dead" | "wait-too-long";

export type DedupeMode = "pending" | "window" | "debounce" | "replace" | "keepLast";

export interface JobSpec {
  fairnessKey?: FairnessKey | undefined;
  weight?: number | undefined;
  /** Tier index, or its name. */
  priority?: number | string | undefined;
  gates?: readonly string[] | undefined;
  /** The gates were put on the job by its queue's policy, and not by its producer. */
  policyGates?: true | undefined;
  cost?: number | undefined;
  delayMs?: number | undefined;
  /** A time of the wall clock; so is the deadline. */
  runAt?: number | undefined;
  ttlMs?: number | undefined;
  deadline?: number | undefined;
  maxWaitMs?: number | undefined;
  dedupe?: { key: string; mode: DedupeMode; windowMs?: number | undefined } | undefined;
  group?: string | undefined;
  /** Jobs that must have ended before this one is eligible. */
  dependencies?: readonly Dependency[] | undefined;
  /** The flow that it is in: it is not eligible before that is sealed. */
  flow?: number | undefined;
  attempts?: number | undefined;
  backoff?: Backoff | undefined;
  leaseMs?: number | undefined;
  /** Instead of what its queue says. */
  ordered?: boolean | undefined;
  /** The tick of a schedule that adds it. */
  schedule?: ScheduleRun | undefined;
  /** Size of payload and headers, for the byte capacity. */
  sizeBytes?: number | undefined;
  /** Anything the caller wants back with the job: the engine only carries it. */
  body?: unknown;
}

/** What becomes of a job when one that it waits for fails, is cancelled, expires or dies. */
export type OnDependencyFailure = "fail" | "run" | "wait";

/** A job that another waits for. */
export interface Dependency {
  id: number;
  /** Default `fail`. */
  on?: OnDependencyFailure | undefined;
}

export interface AddResult {
  id: number;
  /** True when dedupe answered with a job that was there already. */
  duplicate?: boolean;
  /** True when the queue was full and its policy is to drop. */
  dropped?: boolean;
  /** The tier the job was put into (it may have been spilled). */
  tier: number;
}

/** Options of a worker, besides how many jobs it would take. */
export interface WantOptions {
  /** How long its leases last; 0: as the job or the queue says. */
  leaseMs?: number;
  /** It lives in the process of the broker: it ends with it, and so do its leases. */
  inProcess?: boolean;
}

/** One dispatched job. `lease` rises with each delivery of the job; `attempt` is 0 on the first. */
export interface Lease {
  id: number;
  lease: number;
  queue: string;
  worker: string;
  attempt: number;
  tier: number;
  expiresAt: number;
  body: unknown;
}

export interface NackOptions {
  error?: string | undefined;
  /** Where the error was thrown: kept with the job as long as the error is, up to 4 KiB. */
  stack?: string | undefined;
  /** Overrides the backoff. */
  delayMs?: number | undefined;
  /** Cool this gate down (`RetryAfter`): uses no attempt. */
  cooldown?: { gate: string; ms: number; reason?: string | undefined } | undefined;
  /**
   * Report the failure to the ladders of these gates; default: all the job's gates that have one,
   * none
   * with a cooldown.
   */
  blame?: readonly string[] | false | undefined;
  /** Of the gates that are blamed by default, those that are not. */
  spare?: readonly string[] | undefined;
  /** Do not retry. */
  unrecoverable?: boolean | undefined;
}

export interface JobView {
  id: number;
  queue: string;
  state: JobState;
  tier: number;
  fairnessKey: FairnessKey;
  weight: number;
  gates: readonly string[];
  /** The queue's policy has given it those gates. */
  policyGates?: true;
  cost: number;
  attempt: number;
  attempts: number;
  lease: number;
  /** How often it was handed out since it was added, redriven or retried by hand. */
  deliveries: number;
  addedAt: number;
  /** When it falls due (delayed), expires (running) or ended. */
  at?: number;
  deadline?: number;
  /** Blocked: how many of the jobs that it waits for have not ended. */
  waitsFor?: number;
  /** The last error, and the stack that its worker told with it. */
  error?: string;
  stack?: string;
  progress?: unknown;
  /** Steps that are done. */
  steps?: number;
  result?: unknown;
  /** Of a job that a gate would have kept too long: the gate, for how long, what was allowed. */
  waited?: { gate: string; waitMs: number; maxWaitMs: number };
  worker?: string;
  /** In full: `orders/batch-7`. */
  group?: string;
  dedupe?: string;
  schedule?: ScheduleRun;
  /** For a dead letter: the queue it came from, why and when it died, the attempts it had. */
  dead?: { origin: string; reason: string; attempts: number; at: number };
  body: unknown;
}

/** A line that a handler wrote about its job. */
export interface LogLine {
  at: number;
  text: string;
}

export interface HistoryEntry {
  at: number;
  event:
    | "added"
    | "due"
    | "dispatched"
    | "failed"
    | "expired"
    | "returned"
    | "retried"
    | "promoted"
    | "dead"
    | "redriven"
    | "suspended"
    | "ended";
  detail?: string;
}

/** What happened in a queue since it was made. */
export interface QueueCounters {
  added: number;
  dispatched: number;
  finished: number;
  failed: number;
  retried: number;
  expired: number;
  cancelled: number;
  dead: number;
  /** Dead letters that came back to the queue. */
  redriven: number;
  dropped: number;
  rejected: number;
  /** Steps of jobs that are done, how often jobs were suspended, and signals that came. */
  steps: number;
  suspended: number;
  signals: number;
}

export interface QueueStats extends QueueCounters {
  name: string;
  waiting: number;
  delayed: number;
  /** Jobs that wait for other jobs. */
  blocked: number;
  running: number;
  /** Ended jobs that can still be asked for. */
  kept: number;
  bytes: number;
  lanes: number;
  perTier: readonly { name: string; waiting: number; running: number }[];
  freeWorkers: number;
  paused: boolean;
}

export interface LaneStats {
  key: FairnessKey;
  tier: number;
  weight: number;
  waiting: number;
  running: number;
  /** Cost dispatched since the lane was last created. */
  received: number;
}

/** How often a gate let a job pass, and kept the first in its line, since it was made. */
export interface GateDecisions {
  /** Jobs that passed. */
  passed: number;
  /** How often the first in line was looked at and had to wait, by the part that was shut. */
  kept: Partial<Record<GatePart, number>>;
}

export interface GateStats {
  key: string;
  config: GateConfig | undefined;
  /** The pattern that configured it, when it is not its own key. */
  pattern: string | undefined;
  tokens: number | undefined;
  windows: readonly { limit: number; perMs: number; used: number }[];
  inFlight: number;
  ladderStep: number;
  cooldown: { until: number; reason: string } | undefined;
  /** When a job of cost 1 and tier 0 would pass; undefined: when something is released. */
  opensAt: number | undefined;
  /**
   * By tier, the last standing for all beyond: when rate, interval, windows and cooldown open for a
   * job of cost 1, whatever runs meanwhile. null: not by themselves, at a rate of 0.
   */
  opensAtByTier: readonly (number | null)[];
  /** The part that keeps such a job now; undefined: none does. */
  part: GatePart | undefined;
  waitingLanes: number;
}

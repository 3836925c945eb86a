import type { GatePart } from "../gates/gate-state.ts";
import type { EndState, JobState } from "../types.ts";

/** Why a job is not running, as data. The engine names jobs by numbers, others by texts. */
export type Why<Id extends string | number = number> =
  | WhyWaiting
  | WhyOrdered<Id>
  | WhyGated<Id>
  | WhyDead
  | WhyDelayed
  | WhyBlocked<Id>
  | WhySuspended
  | WhyRunning
  | WhyEnded;

/** A dead letter: how often it failed, where, why it died, and the last error. */
export interface Dead {
  origin: string;
  attempts: number;
  reason: string;
  error?: string;
  /** Its queue was deleted: it must be made again before the letter can return. */
  isOriginGone?: true;
}

export interface WhyWaiting {
  state: "waiting";
  reason: "ready" | "no-worker" | "capacity" | "paused" | "behind";
  queue: string;
  /**
   * Jobs with the same gates that are before it in its lane, or in an ordered lane those before it
   * in that order; counted up to 1,000.
   */
  place: number;
  /** Jobs that wait in more urgent tiers. */
  urgent: number;
  /** Workers that take jobs of its queue or hold one, and the jobs that they run. */
  workers: number;
  running: number;
}

/** In an ordered lane: until the job ahead of it has ended. */
export interface WhyOrdered<Id extends string | number = number>
  extends Omit<WhyWaiting, "reason"> {
  reason: "ordered";
  /** The job of its lane that must end first. */
  ahead: Id;
}

export interface WhyGated<Id extends string | number = number> extends Omit<WhyWaiting, "reason"> {
  reason: "gated";
  gate: string;
  /** What keeps it; `line`: the gate is open, and another job is to go first. */
  part: GatePart;
  /** When the gate opens; undefined: when jobs end, or not by itself. */
  until: number | undefined;
  /** Lanes that wait at the gate. */
  lanes: number;
  /** The key or pattern whose rate of 0 shuts the gate: it does not open by itself. */
  shutBy?: string;
  cooldownReason?: string;
  /** The first in line, when that is another job. */
  first?: { id: Id; tier: number };
  /** Jobs that hold all places of the gate, and one of them if it runs in the same engine. */
  holders?: { count: number; id?: Id; worker?: string };
  /** The job for which the gate keeps its next permit, and the gate that it waits for itself. */
  keptFor?: { id: Id; gate?: string; part?: GatePart; until?: number };
}

export interface WhyDead {
  state: "dead";
  queue: string;
  dead: Dead;
}

export interface WhyDelayed {
  state: "delayed";
  queue: string;
  /** Its own delay; a failure, an expired lease or a `RetryAfter`; or a full queue. */
  cause: "delay" | "failed" | "expired" | "retry-after" | "queue-full";
  until: number;
  /** Attempts that are used up, and how many it has. */
  attempt?: number;
  attempts?: number;
  error?: string;
  /** Of a full queue: the jobs that wait there. */
  waiting?: number;
  dead?: Dead;
}

export interface WhyBlocked<Id extends string | number = number> {
  state: "blocked";
  queue: string;
  /** How many of the jobs that it waits for have not ended. */
  open: number;
  /** One of them. */
  for?: { id: Id; queue?: string; state?: JobState };
  /** The flow that it is in and that is not sealed, and when that is cancelled. */
  flow?: Id;
  until?: number;
}

/** A job that is suspended: it sleeps, waits for a signal, or a step of it is retried. */
export interface WhySuspended {
  state: "delayed";
  queue: string;
  cause: "sleep" | "signal" | "step-failed";
  /** The name of the step, or of the signal; that of a sleep is empty. */
  step: string;
  /** Absent: it waits for the signal without an end. */
  until?: number;
  error?: string;
}

export interface WhyRunning {
  state: "running";
  worker: string;
  until: number;
}

export interface WhyEnded {
  state: Exclude<EndState, "dead">;
  at: number;
  error?: string;
  /** Of an expired job. */
  deadline?: number;
}

/**
 * A schedule: a named plan that adds a job to its queue at each tick. The caller decides the times
 * of the ticks and gives the engine the next one, so a replay evaluates no expression. Ticks are
 * times on the wall clock.
 *
 *   waiting    `next` is known; the timer is set for when it is due
 *   due        the caller is to say which ticks have passed, and which comes next (`fire`)
 *   refused    its queue refused the job of a tick: tried again until the next tick
 *   holding    `overlap: "wait"`: a tick is held until the runs before it have ended
 *   over       there is no next tick
 *
 * `decidedUntil` only rises, and a tick up to it is never looked at again: that is why no tick
 * makes two jobs. The job of a tick carries the tick in its own record, so that both are durable or
 * neither is.
 */

export type CatchUp = "none" | "one" | "all";
export type Overlap = "allow" | "skip" | "wait";

/** What becomes of a tick. All but the first two are reasons for which it is skipped. */
export type TickOutcome =
  | "added"
  | "held"
  | "missed"
  | "overlap"
  | "paused"
  | "refused"
  | "dropped"
  | "duplicate"
  | "too-old"
  | "too-many";

export interface ScheduleConfig {
  queue: string;
  catchUp: CatchUp;
  catchUpWindowMs: number;
  overlap: Overlap;
  pauseOnFailure: boolean;
  /** Jobs after which it is over; absent: never. */
  limit?: number | undefined;
  /** The plan, and the job to add: carried for the caller. */
  carried: unknown;
}

export interface LastTick {
  tick: number;
  at: number;
  outcome: TickOutcome;
  job?: number | undefined;
  error?: string | undefined;
}

export interface LastRun {
  job: number;
  at: number;
  ending: string;
  error?: string | undefined;
}

/** Why it adds no jobs; empty: it does. */
export type PausedBy = "" | "call" | "failure";

/** Everything that is remembered of a schedule. */
export interface ScheduleRecord {
  config: ScheduleConfig;
  /** Every tick up to here is decided. */
  decidedUntil: number;
  /** The next tick, and when it is due: later by its jitter. Absent: it is over. */
  next?: number | undefined;
  due?: number | undefined;
  /** Jobs that its ticks have added. */
  made: number;
  pausedBy: PausedBy;
  held?: number | undefined;
  lastTick?: LastTick | undefined;
  lastRun?: LastRun | undefined;
}

/** To which tick of which schedule a job belongs. */
export interface ScheduleRun {
  /** `queue/name`. */
  key: string;
  tick: number;
  /** Told by a call: it is no tick of the plan. */
  byHand?: true | undefined;
  /** It has ended once: another run of it by hand holds nothing up. */
  isOver?: true | undefined;
}

/** A schedule as it lives. What is not in its record is forgotten by a restart. */
export interface Schedule extends ScheduleRecord {
  readonly key: string;
  readonly row: number;
  /** Not looked at before this time of the engine. */
  retryAt: number;
  /** The job of a tick was refused, with those up to `upTo` waiting behind it. */
  refused: { upTo: number; error: string } | undefined;
  /** The caller has it, to say which ticks are due: it has no timer until then. */
  isTaken: boolean;
}

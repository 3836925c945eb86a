import type { EndState, TickOutcome } from "@sluice/engine";
import type { ScheduleSettings } from "./options/schedule-options.ts";

/** What became of a tick, and of why none of its jobs was added. */
export interface ScheduleTick {
  tick: number;
  at: number;
  outcome: TickOutcome;
  /** The job that it added. */
  id?: string;
  error?: string;
}

/** How a job of the schedule ended. */
export interface ScheduleRunEnd {
  id: string;
  state: EndState;
  at: number;
  error?: string;
}

export interface ScheduleInfo {
  name: string;
  queue: string;
  config: ScheduleSettings;
  paused: boolean;
  /** By a call, or by `pauseOnFailure`. */
  pausedBy?: "call" | "failure";
  /** The next ticks, without their jitter; none: the schedule is over. */
  next: readonly number[];
  /** Jobs of it that have not ended. */
  running: number;
  /** Jobs that its ticks have added. */
  added: number;
  lastTick?: ScheduleTick;
  lastRun?: ScheduleRunEnd;
}

/** What a call by hand added. */
export interface ScheduleRunNow {
  id: string;
}

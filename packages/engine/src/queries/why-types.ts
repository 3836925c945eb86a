import type { EndState, GatePart } from "../types.ts";

/** Why a job is not running, as data. The engine names jobs by numbers, others by texts. */
export type Why<Id extends string | number = number> =
  | WhyWaiting
  | WhyGated<Id>
  | WhyDead
  | WhyDelayed
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
  /** Jobs with the same gates that are before it in its lane; counted up to 1,000. */
  place: number;
  /** Jobs that wait in more urgent tiers. */
  urgent: number;
  /** Workers that take jobs of its queue or hold one, and the jobs that they run. */
  workers: number;
  running: number;
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

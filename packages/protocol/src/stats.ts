import type { GateDecisions as EngineGateDecisions, TickOutcome, TimeCounts } from "@sluice/engine";

export type { TimeCounts } from "@sluice/engine";

/** How a broker is doing. Times and counts are those since it was opened. */
export interface BrokerStats {
  /** Payloads in memory. */
  payloadBytes: number;
  /** What lives in the log. */
  liveBytes: number;
  logBytes: number;
  /** Written and not yet durable. */
  unsyncedBytes: number;
  /** How long the log has been at work on what it was given; 0 when it is idle. */
  unsyncedFor: number;
  /** How long something that could be done has been left undone; 0 when there is nothing. */
  overdueBy: number;
  /** From a call that adds jobs to the answer. */
  adds: TimeCounts;
  /** For the queues that were asked for and exist. */
  queues: readonly QueueTimes[];
  /** For the gates that were asked for. */
  gates: readonly GateDecisions[];
  schedules: ScheduleStats;
  /** In a cluster: partitions that did not answer, whose part is not in it. Absent: none. */
  missing?: readonly number[];
}

/** What schedules have done since the broker was opened. */
export interface ScheduleStats {
  count: number;
  /** Ticks by what became of them; an outcome that did not occur is absent. */
  ticks: Partial<Record<TickOutcome, number>>;
}

/** What a gate decided since it was last at rest, or the broker was opened. */
export interface GateDecisions extends EngineGateDecisions {
  key: string;
}

export interface QueueTimes {
  name: string;
  /** From when a job could have gone out to when it did. */
  wait: TimeCounts;
  /** From when it went out to its ack or nack. */
  run: TimeCounts;
  /**
   * The job that was added first among those that wait, and when the first of those that are
   * delayed is due; at most some seconds old. Absent if there is none or the call did not ask.
   */
  oldest?: { id: string; addedAt: number };
  nextDueAt?: number;
  /** How the script of the queue does; absent when it has none. */
  script?: ScriptStats;
}

/** What a script has done since it was set, or the broker was opened. */
export interface ScriptStats {
  /** Calls of its functions. */
  runs: number;
  /**
   * Jobs that went on without an answer of it: it failed, its thread had to be ended, or there was
   * no answer in time.
   */
  failures: { error: number; killed: number; timeout: number };
  /** Processor time of its batches. */
  times: TimeCounts;
  /** It is not asked at present: it failed too often, or cost a thread. */
  isOpen: boolean;
}

import type { TickOutcome } from "@sluice/engine";
import type { ErrorJson } from "./errors.ts";
import type { BulkInfo } from "./found.ts";
import type { GroupInfo, JobEnd, StepKind } from "./job.ts";

/** What happened, told once it is durable, in the order in which it happened. */
export type BrokerEvent = { at: number } & (
  | { event: "added"; queue: string; id: string }
  | { event: "leased"; queue: string; id: string; worker: string; attempt: number }
  | { event: "retried"; queue: string; id: string; attempt: number; until: number; error?: string }
  | { event: "returned"; queue: string; id: string }
  /** A step of a job is done; `kind` is run, sleep or wait. */
  | { event: "step"; queue: string; id: string; name: string; occurrence: number; kind: StepKind }
  /** A job waits for a step without a worker; without `until`: for a signal, without an end. */
  | {
      event: "suspended";
      queue: string;
      id: string;
      name: string;
      occurrence: number;
      kind: StepKind;
      until?: number;
      error?: string;
    }
  | { event: "signalled"; queue: string; id: string; name: string }
  | { event: "dead"; queue: string; id: string; dlq: string; error?: string }
  | ({ event: "ended" } & JobEnd)
  | { event: "progress"; queue: string; id: string; progress: unknown }
  | { event: "group-ended"; queue: string; group: string; members: GroupInfo["members"] }
  | { event: "queue"; queue: string }
  /**
   * Jobs of a queue go on without its script: it failed, its thread had to be ended, or there was
   * no answer in time. Told once a second at most.
   */
  | {
      event: "policy-failed";
      queue: string;
      reason: "error" | "killed" | "timeout";
      error: string;
    }
  | { event: "queue-deleted"; queue: string }
  /** A schedule was set, paused or resumed. */
  | { event: "schedule"; queue: string; schedule: string; paused: boolean }
  | { event: "schedule-deleted"; queue: string; schedule: string }
  /** A tick has added a job. */
  | { event: "ticked"; queue: string; schedule: string; tick: number; id: string }
  /** `overlap: "wait"`: its job is added when the run before it has ended. */
  | { event: "tick-held"; queue: string; schedule: string; tick: number }
  /** A tick has added no job. With `after`, the event covers all ticks after that time. */
  | {
      event: "tick-skipped";
      queue: string;
      schedule: string;
      tick: number;
      reason: Exclude<TickOutcome, "added" | "held">;
      error?: string;
      after?: number;
    }
  | { event: "gate"; gate: string }
  | { event: "cooled"; gate: string; until: number; reason: string }
  /** An action on many jobs was started, is done, or was stopped. */
  | ({ event: "bulk"; bulk: string } & Pick<
      BulkInfo,
      "action" | "state" | "done" | "refused" | "by"
    >)
  /** The opening has cut off the end of the log: told to every reader, before all else. */
  | { event: "torn"; bytes: number; file: string; aside?: string }
  /** The log has failed: nothing more is confirmed. */
  | { event: "failed"; error: ErrorJson }
);

/** A name that is missing here does not compile. */
const NAMES: Readonly<Record<BrokerEvent["event"], true>> = {
  added: true,
  leased: true,
  retried: true,
  returned: true,
  step: true,
  suspended: true,
  signalled: true,
  dead: true,
  ended: true,
  progress: true,
  "group-ended": true,
  queue: true,
  "queue-deleted": true,
  schedule: true,
  "schedule-deleted": true,
  ticked: true,
  "tick-held": true,
  "tick-skipped": true,
  gate: true,
  cooled: true,
  bulk: true,
  torn: true,
  failed: true,
  "policy-failed": true,
};

export const EVENT_NAMES = Object.keys(NAMES) as readonly BrokerEvent["event"][];

export interface EventFilter {
  queue?: string;
  events?: readonly BrokerEvent["event"][];
}

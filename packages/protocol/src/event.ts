import type { ErrorJson } from "./errors.ts";
import type { GroupInfo, JobEnd } from "./job.ts";

/** What happened, told once it is durable, in the order in which it happened. */
export type BrokerEvent = { at: number } & (
  | { event: "added"; queue: string; id: string }
  | { event: "leased"; queue: string; id: string; worker: string; attempt: number }
  | { event: "retried"; queue: string; id: string; attempt: number; until: number; error?: string }
  | { event: "returned"; queue: string; id: string }
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
  | { event: "gate"; gate: string }
  | { event: "cooled"; gate: string; until: number; reason: string }
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
  dead: true,
  ended: true,
  progress: true,
  "group-ended": true,
  queue: true,
  "queue-deleted": true,
  gate: true,
  cooled: true,
  torn: true,
  failed: true,
  "policy-failed": true,
};

export const EVENT_NAMES = Object.keys(NAMES) as readonly BrokerEvent["event"][];

export interface EventFilter {
  queue?: string;
  events?: readonly BrokerEvent["event"][];
}

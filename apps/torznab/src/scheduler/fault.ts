/**
 * What went wrong with an indexer, and what that means for its limits. The code that
 * talks to the indexer throws it; the scheduler reads from it the task's status and the penalty.
 *
 *   limit    the indexer asked for time: cooldown of what it asked for, and the ladder
 *   ladder   it is in trouble: one step up the ladder
 *   none     our mistake, or nothing to be done about: its limits stay as they are
 */
import type { Status } from "./outcome.ts";

export type Penalty = "limit" | "ladder" | "none";

export interface FaultOptions {
  readonly status?: Extract<Status, "error" | "timeout" | "rate_limited" | "skipped"> | undefined;
  readonly penalty?: Penalty | undefined;
  /** What the indexer asked for. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** The message is kept and shown: it never holds an address or a key. */
export class Fault extends Error {
  readonly status: NonNullable<FaultOptions["status"]>;
  readonly penalty: Penalty;
  readonly retryAfterMs: number;

  constructor(message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "Fault";
    this.status = options.status ?? "error";
    this.penalty = options.penalty ?? "none";
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }
}

/** How a task of a search ended for its indexer. */
import type { Priority } from "./priority.ts";

export const STATUSES = [
  /** It answered, with results. */
  "ok",
  /** It answered, and there is nothing. */
  "empty",
  "error",
  "timeout",
  /** Its limits would have made the task wait too long, or it said so itself. */
  "rate_limited",
  /** Never asked: it cannot do this kind of search, or it is disabled. */
  "skipped",
  /** The same feed is being fetched already. */
  "deduplicated",
  "cancelled",
  "stopped",
] as const;

export type Status = (typeof STATUSES)[number];

/** What an indexer has beyond its answer: where that begins, and how many it is at least. */
export interface More {
  readonly offset: number;
  readonly count: number;
}

export interface Outcome<Result> {
  readonly status: Status;
  readonly results: readonly Result[];
  /** The indexers that these results speak for: empty unless it answered. */
  readonly coverage: readonly string[];
  /** Only the first results were kept over a restart. */
  readonly cut?: true | undefined;
  readonly more?: More | undefined;
  readonly error?: Error | undefined;
}

/** The indexer's limits would have made a task wait for longer than it would. */
export class RateLimitWaitError extends Error {
  readonly indexerId: string;
  readonly indexerName: string;
  /** Milliseconds. */
  readonly wait: number;
  readonly maxWait: number;
  readonly priority: Priority | undefined;

  constructor(
    indexer: { id: string; name: string },
    times: { wait: number; maxWait: number; priority: Priority | undefined },
  ) {
    const [wait, most] = [times.wait, times.maxWait].map((ms) => `${Math.ceil(ms / 1_000)} s`);
    super(`${indexer.name} may be asked in ${wait}; this search waits ${most} at most`);
    this.name = "RateLimitWaitError";
    this.indexerId = indexer.id;
    this.indexerName = indexer.name;
    this.wait = times.wait;
    this.maxWait = times.maxWait;
    this.priority = times.priority;
  }
}

export function without<Result>(status: Status, error?: Error): Outcome<Result> {
  return { status, results: [], coverage: [], error };
}

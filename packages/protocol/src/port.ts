import type { CallsOf } from "./calls/call.ts";
import type { CALLS } from "./calls/index.ts";
import type { ConsumeOptions, LeaseOptions } from "./calls/options.ts";
import type { Duration } from "./duration.ts";
import type { BrokerEvent, EventFilter } from "./event.ts";
import type { LeasedJob } from "./job.ts";

export type * from "./calls/options.ts";

/** The calls that have rows in the table; all of them take `CallOptions` as their last argument. */
export interface TableCalls extends CallsOf<typeof CALLS> {}

/**
 * The Broker port: the only door to Sluice. The broker in this process implements it, so does the
 * client of a server, and so does a cluster; `Queue` and `Worker` see nothing else.
 *
 * Calls about jobs take batches and answer item by item: one refused item does not stop the
 * others. An answer means that what it says is durable. A call that can have no answer at all
 * rejects with a `SluiceError`.
 *
 * Times are wall-clock milliseconds. Durations are milliseconds or texts such as "30s"; those of a
 * new job have the engine's names, which end in `Ms`.
 */
export interface Broker extends TableCalls {
  /** Takes jobs now, or waits up to `wait` for the first; an empty array when there was none. */
  lease(queue: string, options: LeaseOptions): Promise<LeasedJob[]>;

  /** Has jobs delivered as they can run, never more at once than the consumer has credits. */
  consume(queue: string, options: ConsumeOptions, deliver: Deliver): Promise<Consumer>;

  /**
   * What happens from now on. Ends when the broker closes or the caller leaves the loop. A reader
   * that falls far behind is cut off with `RATE_LIMITED`, so that it cannot fill the memory.
   */
  events(filter?: EventFilter): AsyncIterableIterator<BrokerEvent>;

  /**
   * Ends every consumer, gives its leases back, makes all that was answered durable. A broker that
   * is reached over a network says goodbye for at most `timeout`.
   */
  close(options?: { timeout?: Duration | undefined }): Promise<void>;
}

export type Deliver = (jobs: LeasedJob[]) => void;

/** A receiver of jobs. */
export interface Consumer {
  /** Lets `count` more jobs come. An acked job gives no credit back by itself. */
  addCredits(count: number): void;
  /**
   * No more deliveries. Leases that it holds stay until they are acked, nacked, given back or
   * expire; a delivery that is on its way is given back.
   */
  stop(): Promise<void>;
  /** Resolves when the consumer is over: stopped, queue deleted or broker closed. */
  readonly over: Promise<void>;
}

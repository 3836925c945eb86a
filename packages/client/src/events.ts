/**
 * What workers tell. Each event rises to the worker's queue and to its Sluice. What an event says
 * has happened: `finished` comes when the ack is durable, not when the handler returns.
 */
import type { SluiceError } from "@sluice/protocol";
import type { Scaled } from "./slots.ts";
import type { WorkJob } from "./work-job.ts";

export interface WorkEvents<Payload, Result> {
  /** A handler begins. */
  started: { job: WorkJob<Payload> };
  finished: { job: WorkJob<Payload>; result: Result | undefined };
  /** It will run again. */
  retried: { job: WorkJob<Payload>; error: unknown };
  /** It will not run again: out of attempts, unrecoverable, or its payload does not match. */
  failed: { job: WorkJob<Payload>; error: unknown };
  /** The lease ran out, or the job was cancelled, while it was held. */
  "lease-lost": { job: WorkJob<Payload>; error: SluiceError };
  /** The number of slots has changed. */
  scaled: Scaled & { worker: string };
  /** The last running job has ended and its end is confirmed. */
  idle: { worker: string };
  closed: { worker: string };
  /** Something failed outside of handlers: a call to the broker, or a listener. */
  error: { error: Error; worker?: string };
}

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
  /**
   * It will not run again: out of attempts, unrecoverable, or its payload does not match. A dead
   * letter whose reader fails stays in its dead letter queue.
   */
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

/** A name that is missing here does not compile. */
const WORK: Readonly<Record<keyof WorkEvents<unknown, unknown>, true>> = {
  started: true,
  finished: true,
  retried: true,
  failed: true,
  "lease-lost": true,
  scaled: true,
  idle: true,
  closed: true,
  error: true,
};

export const WORK_EVENTS = Object.keys(WORK) as readonly (keyof typeof WORK)[];

/** Where a connection leads to: in a cluster there is one for each partition. */
interface Linked {
  address: string;
  partition?: number;
}

/** What a `Sluice` emits: the events of its workers, and what happens to its connection. */
export interface SluiceEvents extends WorkEvents<unknown, unknown> {
  /** The connection is there again. The first one is the answer of `connect`. */
  connected: Linked;
  /** The connection was lost; the client reconnects. */
  disconnected: Linked & { error: SluiceError };
  /** The next attempt to connect is made after the delay. */
  reconnecting: Linked & { attempt: number; delay: number; error: SluiceError };
}

const LINK: Readonly<Record<Exclude<keyof SluiceEvents, keyof typeof WORK>, true>> = {
  connected: true,
  disconnected: true,
  reconnecting: true,
};

export const SLUICE_EVENTS = [
  ...WORK_EVENTS,
  ...(Object.keys(LINK) as readonly (keyof typeof LINK)[]),
] as const;

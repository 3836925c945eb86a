/**
 * Jobs that wait for jobs of another partition.
 *
 * Four kinds of jobs in the queue `sluice.flows` carry an end from one partition to another:
 *
 *   stand-in   in the partition of the dependent, which waits for it; ends as the job did for which
 *              it stands
 *   message    in the partition of the job that is waited for, and waits for it itself; then tells
 *              the stand-in how it ended, by a signal
 *   seal       in the home partition of a flow over several partitions, and a job of that flow; the
 *              jobs in the other partitions wait for it, by stand-ins
 *   cancel     in the partition of a job that is cancelled with what it waits for; then cancels
 *              messages in other partitions (`cancel-over.ts`)
 *
 * All are ordinary jobs of ordinary logs, so each hop resumes after a crash and has its effect
 * once: a message that is delivered twice signals under the same operation id.
 */
import type { Broker, NewJob, OnDependencyFailure, QueueOptions } from "@sluice/protocol";

export const LINKS = "sluice.flows";

/** Signals of a message: a piece of a long result, and the end. */
export const PART = "part";
export const ENDED = "ended";

const OF = "sluice-of";
const ON = "sluice-on";
const TELLS = "sluice-tells";
const SEAL = "sluice-seal";
const CANCELS = "sluice-cancels";

const QUEUE: QueueOptions = {
  dlq: false,
  lease: "30s",
  retry: { attempts: 1000, deliveries: 1_000_000, min: "1s", max: "1m" },
  results: { jobs: 1000, ttl: "10m" },
};

const EMPTY = new Uint8Array();

/** A job of another partition that a job waits for. */
export interface Link {
  readonly of: string;
  readonly on: OnDependencyFailure;
  /** It is the seal of a flow. */
  readonly isSeal?: boolean;
}

/** What a job of the queue is for. */
export type LinkJob =
  | ({ kind: "stand-in" } & Link)
  | { kind: "message"; tells: string }
  | { kind: "seal" }
  | { kind: "cancel" };

export function standIn({ of, on, isSeal }: Link): NewJob {
  const headers = { [OF]: of, [ON]: on, ...(isSeal === true ? { [SEAL]: "1" } : {}) };
  return { payload: EMPTY, headers };
}

/** It runs however the job ends, unless the dependent waits until the job has finished. */
export function message({ of, on }: Link, tells: string): NewJob {
  return {
    payload: EMPTY,
    headers: { [TELLS]: tells },
    dedupe: { key: tells, mode: "pending" },
    after: [{ id: of, onDependencyFailure: on === "wait" ? "wait" : "run" }],
  };
}

export function seal(): NewJob {
  return { payload: EMPTY, headers: { [SEAL]: "1" } };
}

/** It runs when the job has ended, which is at once when that one is cancelled. */
export function cancels(id: string, payload: Uint8Array): NewJob {
  return {
    payload,
    headers: { [CANCELS]: id },
    dedupe: { key: `${CANCELS} ${id}`, mode: "pending" },
    after: [{ id, onDependencyFailure: "run" }],
  };
}

export function linkJobOf(headers: Readonly<Record<string, string>>): LinkJob {
  const { [OF]: of, [ON]: on, [TELLS]: tells, [SEAL]: isSeal } = headers;
  if (headers[CANCELS] !== undefined) return { kind: "cancel" };
  if (tells !== undefined) return { kind: "message", tells };
  if (of === undefined) return { kind: "seal" };
  const link = { of, on: on as OnDependencyFailure };
  return { kind: "stand-in", ...link, ...(isSeal === undefined ? {} : { isSeal: true }) };
}

/** Makes a call about the queue, which is made first where it is missing. */
export async function withLinks<T>(port: Broker, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if ((error as { code?: string }).code !== "QUEUE_NOT_FOUND") throw error;
    await port.setQueue(LINKS, QUEUE);
    return call();
  }
}

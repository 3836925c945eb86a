/**
 * What a job is told, from the user's words to the port's. This runs for every job, so it walks
 * through the options that are there and makes one object of one shape.
 */
import type { DedupeMode, FairnessKey, NewJob, RetryPolicy } from "@sluice/protocol";
import { type Duration, LEASE, parseDuration, TIME, type Time } from "@sluice/protocol";
import { fieldsOf } from "./fields.ts";
import { unknownField } from "./invalid.ts";
import { parseRetry, type RetryOptions } from "./parse-retry.ts";

export interface JobOptions {
  /** Whose job it is: lanes of the same tier share the workers. A path is an array. */
  fairnessKey?: FairnessKey | undefined;
  /** Share of the job's lane among the lanes of its tier. */
  weight?: number | undefined;
  /** Tier index (0 is the most urgent) or its name; absent: the last tier. */
  priority?: number | string | undefined;
  /** Gates that must all be open before the job is handed out. */
  gates?: readonly string[] | undefined;
  /** What the job takes from gates and from its lane's share. Default 1. */
  cost?: number | undefined;
  delay?: Duration | undefined;
  /** Instead of a delay. */
  runAt?: Time | undefined;
  ttl?: Duration | undefined;
  /** Instead of a ttl. */
  deadline?: Time | undefined;
  /** Fail at once when the gates would make it wait longer than this. */
  maxWait?: Duration | undefined;
  dedupe?:
    | { key: string; mode?: DedupeMode | undefined; window?: Duration | undefined }
    | undefined;
  /** Jobs that were submitted together. */
  group?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  /** Deliveries in all, instead of the queue's. */
  attempts?: number | undefined;
  backoff?: RetryOptions | undefined;
  lease?: Duration | undefined;
}

/** An item of `addBulk`: the payload among its options. */
export interface BulkItem<Payload> extends JobOptions {
  payload: Payload;
}

/** All that a job can be told, in the order in which a policy is asked. */
export const JOB_FIELDS = [
  "fairnessKey",
  "weight",
  "priority",
  "gates",
  "cost",
  "delay",
  "runAt",
  "ttl",
  "deadline",
  "maxWait",
  "dedupe",
  "group",
  "headers",
  "attempts",
  "backoff",
  "lease",
] as const satisfies readonly (keyof JobOptions)[];

const DEDUPE = ["key", "mode", "window"];

/** A job on its way to the port: always the same shape, so that what reads it stays fast. */
export class OutgoingJob implements NewJob {
  payload: Uint8Array = NOTHING;
  fairnessKey: FairnessKey | undefined = undefined;
  weight: number | undefined = undefined;
  priority: number | string | undefined = undefined;
  gates: readonly string[] | undefined = undefined;
  cost: number | undefined = undefined;
  delayMs: number | undefined = undefined;
  runAt: number | undefined = undefined;
  ttlMs: number | undefined = undefined;
  deadline: number | undefined = undefined;
  maxWaitMs: number | undefined = undefined;
  dedupe: NewJob["dedupe"] = undefined;
  group: string | undefined = undefined;
  headers: Readonly<Record<string, string>> | undefined = undefined;
  attempts: number | undefined = undefined;
  backoff: Partial<RetryPolicy> | undefined = undefined;
  leaseMs: number | undefined = undefined;
}

const NOTHING = new Uint8Array(0);

/** Reads the options into a job; what says `undefined` says nothing. */
export function readOptions(job: OutgoingJob, options: object): void {
  for (const key in options) {
    const value = (options as Record<string, unknown>)[key];
    if (value !== undefined) readOption(job, key, value);
  }
}

/** The broker checks what travels as it is; only what is changed on the way is checked here. */
function readOption(job: OutgoingJob, key: string, value: unknown): void {
  switch (key) {
    case "payload":
      return;
    case "fairnessKey":
    case "weight":
    case "priority":
    case "gates":
    case "cost":
    case "group":
    case "headers":
    case "attempts":
      (job as unknown as Record<string, unknown>)[key] = value;
      return;
    default:
      readTime(job, key, value);
  }
}

function readTime(job: OutgoingJob, key: string, value: unknown): void {
  switch (key) {
    case "delay":
      job.delayMs = parseDuration("job.delay", value);
      return;
    case "runAt":
      job.runAt = TIME.parse("job.runAt", value);
      return;
    case "ttl":
      job.ttlMs = parseDuration("job.ttl", value);
      return;
    case "deadline":
      job.deadline = TIME.parse("job.deadline", value);
      return;
    case "maxWait":
      job.maxWaitMs = parseDuration("job.maxWait", value);
      return;
    case "lease":
      job.leaseMs = LEASE.parse("job.lease", value);
      return;
    case "backoff":
      job.backoff = parseRetry("job.backoff", value);
      return;
    case "dedupe":
      job.dedupe = readDedupe(value);
      return;
    default:
      throw unknownField(`job.${key}`, JOB_FIELDS, value);
  }
}

function readDedupe(value: unknown): NewJob["dedupe"] {
  const {
    key,
    mode = "pending",
    window,
  } = fieldsOf<NonNullable<JobOptions["dedupe"]>>("job.dedupe", value, DEDUPE);
  const dedupe = { key, mode };
  if (window === undefined) return dedupe;
  return { ...dedupe, windowMs: parseDuration("job.dedupe.window", window) };
}

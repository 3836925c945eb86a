import type { JobInfo, LeasedJob } from "@sluice/protocol";
import { LISTED_PAYLOAD_BYTES_MAX } from "../limits.ts";
import { type Encoding, fromBytes } from "../payload.ts";
import {
  ANYTHING,
  BASE64,
  COUNT,
  FAIRNESS_KEY,
  FLAG,
  list,
  MS,
  NAME,
  NUMBER,
  object,
  type Schema,
  TEXT,
  TIME,
} from "./shapes.ts";

const HEADERS: Schema = { type: "object", additionalProperties: TEXT };

const BACKOFF: Schema = object({
  attempts: COUNT,
  minMs: MS,
  maxMs: MS,
  factor: NUMBER,
  jitter: NUMBER,
});

const DEDUPE: Schema = object(
  {
    key: TEXT,
    mode: { type: "string", enum: ["pending", "window", "debounce", "replace", "keepLast"] },
    windowMs: MS,
  },
  ["key", "mode"],
);

/** A new job: its payload and what it is told. */
export const NEW_JOB: Readonly<Record<string, Schema>> = {
  payload: ANYTHING,
  payloadBase64: { ...BASE64, description: "Instead of payload, for bytes that are no JSON." },
  fairnessKey: FAIRNESS_KEY,
  weight: COUNT,
  priority: { description: "The tier, by number or name.", type: ["integer", "string"] },
  gates: list(TEXT),
  cost: COUNT,
  delayMs: MS,
  runAt: TIME,
  ttlMs: MS,
  deadline: TIME,
  maxWaitMs: MS,
  dedupe: DEDUPE,
  group: NAME,
  headers: HEADERS,
  attempts: COUNT,
  backoff: BACKOFF,
  leaseMs: MS,
};

export const ADDED: Readonly<Record<string, Schema>> = {
  id: TEXT,
  tier: COUNT,
  duplicate: { type: "boolean", description: "A job with its dedupe key was there: its id." },
  dropped: { type: "boolean", description: "The queue was full and drops what comes." },
};

const CARRIED: Readonly<Record<string, Schema>> = {
  payload: ANYTHING,
  payloadBase64: { ...BASE64, description: "When the payload is no JSON, or was asked for so." },
};

export const LEASED: Schema = object(
  {
    id: TEXT,
    lease: { type: "string", description: "The token under which the job is held." },
    queue: NAME,
    attempt: { type: "integer", description: "0 on the first delivery." },
    attempts: COUNT,
    tier: COUNT,
    fairnessKey: FAIRNESS_KEY,
    addedAt: TIME,
    expiresAt: TIME,
    leaseMs: MS,
    headers: HEADERS,
    ...CARRIED,
  },
  ["id", "lease", "queue", "attempt", "headers"],
);

export const JOB: Schema = object(
  {
    id: TEXT,
    queue: NAME,
    state: { type: "string", enum: ["waiting", "delayed", "leased", "finished", "failed"] },
    ending: TEXT,
    tier: COUNT,
    fairnessKey: FAIRNESS_KEY,
    weight: NUMBER,
    gates: list(TEXT),
    cost: NUMBER,
    attempt: COUNT,
    attempts: COUNT,
    addedAt: TIME,
    at: TIME,
    deadline: TIME,
    error: TEXT,
    group: TEXT,
    dedupe: TEXT,
    origin: TEXT,
    worker: TEXT,
    progress: ANYTHING,
    headers: HEADERS,
    ...CARRIED,
    payloadBytes: COUNT,
    isPayloadOmitted: { ...FLAG, description: "Too large for a list: ask for the job itself." },
    result: ANYTHING,
    resultBase64: BASE64,
  },
  ["id", "queue", "state", "payloadBytes"],
);

export function leasedJson(job: LeasedJob, encoding: Encoding): object {
  const { payload, ...rest } = job;
  return { ...rest, ...fromBytes("payload", payload, encoding) };
}

export function jobJson({ payload, result, ...rest }: JobInfo, encoding: Encoding): object {
  const shown = result === undefined ? {} : fromBytes("result", result, encoding);
  const payloadBytes = payload.length;
  return { ...rest, payloadBytes, ...fromBytes("payload", payload, encoding), ...shown };
}

/** As a list shows it: a large payload is left out. */
export function listedJson(job: JobInfo): object {
  if (job.payload.length <= LISTED_PAYLOAD_BYTES_MAX) return jobJson(job, "auto");
  const { payload, result: _, ...rest } = job;
  return { ...rest, payloadBytes: payload.length, isPayloadOmitted: true };
}

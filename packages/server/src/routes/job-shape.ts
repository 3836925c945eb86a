import { JOB_STATES, type JobInfo, type JobJson, type LeasedJob } from "@sluice/protocol";
import { isJson } from "../body/is-json.ts";
import { LISTED_PAYLOAD_BYTES_MAX, LISTED_START_BYTES } from "../limits.ts";
import { type Encoding, fromBytes, startOf } from "../payload.ts";
import {
  ANYTHING,
  BASE64,
  COUNT,
  FAIRNESS_KEY,
  GROUP,
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
    mode: {
      type: "string",
      enum: ["pending", "window", "debounce", "replace", "keepLast"],
      default: "pending",
    },
    windowMs: MS,
  },
  ["key"],
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
  group: { ...GROUP, description: "A group of this queue, or `queue/name` of another queue." },
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
    deliveries: { ...COUNT, description: "How often it was handed out, this time included." },
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

const DEAD: Schema = {
  ...object({ origin: NAME, reason: TEXT, attempts: COUNT, at: TIME }),
  description: "A dead letter: the queue it came from, why and when it died, its attempts there.",
};

export const JOB: Schema = object(
  {
    id: TEXT,
    queue: NAME,
    state: { type: "string", enum: JOB_STATES },
    tier: COUNT,
    fairnessKey: FAIRNESS_KEY,
    weight: NUMBER,
    gates: list(TEXT),
    cost: NUMBER,
    attempt: COUNT,
    attempts: COUNT,
    deliveries: COUNT,
    addedAt: TIME,
    at: TIME,
    deadline: TIME,
    error: TEXT,
    stack: { ...TEXT, description: "Where the last error was thrown." },
    group: TEXT,
    dedupe: TEXT,
    dead: DEAD,
    worker: TEXT,
    progress: ANYTHING,
    headers: HEADERS,
    ...CARRIED,
    payloadBytes: COUNT,
    payloadStart: { ...TEXT, description: "Instead of one that is too long: how it begins." },
    payloadStartBase64: BASE64,
    result: ANYTHING,
    resultBase64: BASE64,
    resultBytes: COUNT,
    resultStart: TEXT,
    resultStartBase64: BASE64,
  },
  ["id", "queue", "state", "payloadBytes"],
);

/** A leased job as the bytes of JSON, with its payload as it is where that is JSON. */
export async function leasedBytes(job: LeasedJob, encoding: Encoding): Promise<Uint8Array[]> {
  const { payload, ...rest } = job;
  const head = JSON.stringify(rest).slice(0, -1);
  if (encoding === "auto" && (await isJson(payload))) {
    return [Buffer.from(`${head},"payload":`), payload, CLOSE];
  }
  const tail = JSON.stringify(fromBytes("payload", payload, "base64")).slice(1);
  return [Buffer.from(`${head},${tail}`)];
}

const CLOSE = Buffer.from("}");

interface Shown {
  encoding?: Encoding | undefined;
  /** A payload or a result that is longer is told by its first bytes, so many of them. */
  bytesMax?: number | undefined;
  startBytes?: number | undefined;
}

export function jobJson({ payload, result, ...rest }: JobInfo, shown: Shown): JobJson {
  const { encoding, bytesMax = Number.POSITIVE_INFINITY, startBytes = bytesMax } = shown;
  const show = (field: "payload" | "result", bytes: Uint8Array): object =>
    bytes.length > bytesMax ? startOf(field, bytes, startBytes) : fromBytes(field, bytes, encoding);
  const payloadBytes = payload.length;
  const job: JobJson = { ...rest, payloadBytes, ...show("payload", payload) };
  if (result === undefined) return job;
  return { ...job, resultBytes: result.length, ...show("result", result) };
}

/** As a list shows it. */
export function listedJson(job: JobInfo): JobJson {
  return jobJson(job, { bytesMax: LISTED_PAYLOAD_BYTES_MAX, startBytes: LISTED_START_BYTES });
}

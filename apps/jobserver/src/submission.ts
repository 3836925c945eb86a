/** A job as it is submitted, and as it lies in the queue. */
import { SluiceError } from "sluice";
import {
  CALLBACK_URL_BYTES_MAX,
  IDEMPOTENCY_KEY_BYTES_MAX,
  TIMEOUT_SECONDS_MAX,
  WORKER_ID_BYTES_MAX,
} from "./limits.ts";

export interface Submission {
  readonly type: string;
  readonly workerId?: string | undefined;
  readonly arguments?: unknown;
  readonly timeoutMs: number;
  /** Where its end is sent. */
  readonly callback?: string | undefined;
}

/** What the key of a submitter says; an operator may submit under any name. */
export interface Bound {
  readonly worker_id: string;
  readonly tier?: string | undefined;
}

export interface Submitted {
  readonly submission: Submission;
  readonly idempotencyKey: string | undefined;
}

const FIELDS = [
  "type",
  "worker_id",
  "arguments",
  "timeout_seconds",
  "idempotency_key",
  "callback_url",
];

export function parseSubmission(
  body: unknown,
  types: ReadonlySet<string>,
  timeoutMs: number,
  bound?: Bound,
): Submitted {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalid("body", "must be a JSON object", body);
  }
  const fields = body as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(body).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) {
    throw invalid(unknown, `is not a known field (${FIELDS.join(", ")})`, fields[unknown]);
  }
  return {
    submission: {
      type: parseType(fields.type, types),
      workerId: parseWorkerId(fields.worker_id, bound),
      arguments: fields.arguments,
      timeoutMs: parseTimeout(fields.timeout_seconds) ?? timeoutMs,
      callback: parseText("callback_url", fields.callback_url, CALLBACK_URL_BYTES_MAX),
    },
    idempotencyKey: parseText("idempotency_key", fields.idempotency_key, IDEMPOTENCY_KEY_BYTES_MAX),
  };
}

export function parseWorkerId(value: unknown, bound?: Bound): string | undefined {
  const workerId = parseText("worker_id", value, WORKER_ID_BYTES_MAX);
  if (bound === undefined) return workerId;
  if (workerId === undefined || workerId === bound.worker_id) return bound.worker_id;
  const message = `this key submits jobs of ${bound.worker_id}, not of ${show(workerId)}`;
  throw new SluiceError("FORBIDDEN", message, { field: "worker_id", value: show(workerId) });
}

function parseType(type: unknown, types: ReadonlySet<string>): string {
  if (typeof type === "string" && types.has(type)) return type;
  throw invalid("type", `must be one of ${[...types].join(", ")}`, type);
}

function parseText(field: string, value: unknown, bytesMax: number): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && value !== "" && Buffer.byteLength(value) <= bytesMax) {
    return value;
  }
  throw invalid(field, `must be a string of 1 to ${bytesMax} bytes`, value);
}

function parseTimeout(seconds: unknown): number | undefined {
  if (seconds === undefined || seconds === null) return undefined;
  if (typeof seconds === "number" && seconds > 0 && seconds <= TIMEOUT_SECONDS_MAX) {
    return Math.ceil(seconds * 1000);
  }
  const wanted = `must be a number above 0, at most ${TIMEOUT_SECONDS_MAX}`;
  throw invalid("timeout_seconds", wanted, seconds);
}

function invalid(field: string, wanted: string, value: unknown): SluiceError {
  const message = `${field} ${wanted}, got ${show(value)}`;
  return new SluiceError("INVALID", message, { field, value: show(value) });
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 100 ? `${text.slice(0, 97)}...` : text;
}

/**
 * What the engine answers when it refuses. The code is stable and is what callers match; `field`
 * and `value` name what was wrong with the input.
 */
export type RefusalCode =
  | "INVALID"
  | "QUEUE_NOT_FOUND"
  | "JOB_NOT_FOUND"
  | "GATE_NOT_FOUND"
  | "SCHEDULE_NOT_FOUND"
  | "QUEUE_FULL"
  | "RATE_LIMITED"
  | "WAIT_TOO_LONG"
  | "LEASE_LOST"
  | "ALREADY_FINISHED"
  | "NOT_A_DLQ"
  | "LIMIT_REACHED"
  | "CONFLICT";

export interface RefusalDetails {
  field?: string;
  value?: unknown;
  retryAfterMs?: number;
  [key: string]: unknown;
}

export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly details: RefusalDetails;

  constructor(code: RefusalCode, message: string, details: RefusalDetails = {}) {
    super(message);
    this.name = "Refusal";
    this.code = code;
    this.details = details;
  }
}

/** The refusal of one field of the input: names the field, what was wanted and what came. */
export function invalid(field: string, wanted: string, value: unknown): Refusal {
  return new Refusal("INVALID", `${field} must be ${wanted}, got ${show(value)}`, { field, value });
}

/** Throws only if a caller forgot to check a value that came from outside. */
export function checkInteger(field: string, value: unknown, min: number, max: number): void {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return;
  throw invalid(field, `an integer from ${min} to ${max}`, value);
}

function show(value: unknown): string {
  if (typeof value === "string")
    return JSON.stringify(value.length > 64 ? `${value.slice(0, 61)}...` : value);
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null)
    return Array.isArray(value) ? "an array" : "an object";
  return String(value);
}

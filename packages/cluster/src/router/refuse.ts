import { SluiceError } from "@sluice/protocol";
import { BATCH_MAX } from "../limits.ts";

/** The refusal of one field: names the field, what was wanted and what came. */
export function invalid(field: string, wanted: string, value: unknown): SluiceError {
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 64)) : String(value);
  return new SluiceError("INVALID", `${field} must be ${wanted}, got ${shown}`, { field, value });
}

export function checkBatch(field: string, items: unknown): void {
  if (!Array.isArray(items)) throw invalid(field, "an array", items);
  if (items.length > BATCH_MAX) {
    throw invalid(`${field}.length`, `at most ${BATCH_MAX}`, items.length);
  }
}

export function checkInteger(field: string, value: unknown, min: number, max: number): void {
  if (!Number.isInteger(value) || (value as number) < min || (value as number) > max) {
    throw invalid(field, `an integer from ${min} to ${max}`, value);
  }
}

export function aborted(signal: AbortSignal): SluiceError {
  return new SluiceError("ABORTED", "the caller gave up", {}, { cause: signal.reason });
}

/** Asked anew every time: the compiler takes it to stay as it was. */
export function isAborted(signal: AbortSignal | undefined): signal is AbortSignal {
  return signal?.aborted === true;
}

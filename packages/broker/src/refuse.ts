import { Refusal } from "@sluice/engine";
import { type ErrorJson, invalid, SluiceError, toSluiceError } from "@sluice/protocol";
import { idOf } from "./job-ids.ts";

/** Fields whose values the engine counts. */
const NAMED: ReadonlySet<string> = new Set(["id", "lease", "job.after", "flow"]);

/** What the engine refused, or anything else that was thrown, in the words of the port. */
export function toPortError(error: unknown): SluiceError {
  if (!(error instanceof Refusal)) return toSluiceError(error);
  const { code, details } = error;
  const { field } = details;
  if (field === undefined || !NAMED.has(field)) {
    return new SluiceError(code, error.message, details);
  }
  // The engine counts jobs and flows; outside they have names.
  const message = error.message.replace(
    /\b(job|flow) (\d+)\b/,
    (_, noun, number) => `${noun} ${idOf(Number(number))}`,
  );
  const value =
    field !== "lease" && typeof details.value === "number"
      ? idOf(details.value as number)
      : details.value;
  return new SluiceError(code, message, { ...details, value });
}

export function errorJson(error: unknown): ErrorJson {
  return toPortError(error).toJSON();
}

export function tooLarge(field: string, bytes: Uint8Array, max: number): SluiceError {
  const message = `${field} must be at most ${max} bytes, got ${bytes.length}`;
  return new SluiceError("PAYLOAD_TOO_LARGE", message, { field, value: bytes.length });
}

/** The place that a cursor names; 0: the beginning. */
export function parseCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const value = Number(cursor);
  if (!Number.isSafeInteger(value) || value < 1) {
    throw invalid("cursor", "the cursor of an earlier answer", cursor);
  }
  return value;
}

/** A copy of a value as JSON carries it: later changes of the object do not reach it. */
export function plainJson(field: string, value: unknown, bytesMax: number): unknown {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    text = undefined;
  }
  if (text === undefined) throw invalid(field, "a value that JSON can represent", value);
  if (text.length > bytesMax) {
    throw invalid(field, `at most ${bytesMax} bytes of JSON`, text.length);
  }
  return JSON.parse(text);
}

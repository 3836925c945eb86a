import { Refusal } from "@sluice/engine";
import { type ErrorJson, type Outcome, SluiceError, toSluiceError } from "@sluice/protocol";

import { idOf } from "./job-ids.ts";

/** What the engine refused, or anything else that was thrown, in the words of the port. */
export function toPortError(error: unknown): SluiceError {
  if (!(error instanceof Refusal)) return toSluiceError(error);
  const { code, details } = error;
  if (details.field !== "id" && details.field !== "lease") {
    return new SluiceError(code, error.message, details);
  }
  // The engine counts jobs; outside they have names.
  const message = error.message.replace(/\bjob (\d+)\b/, (_, job) => `job ${idOf(Number(job))}`);
  const value = details.field === "id" ? idOf(details.value as number) : details.value;
  return new SluiceError(code, message, { ...details, value });
}

export function errorJson(error: unknown): ErrorJson {
  return toPortError(error).toJSON();
}

const DONE: Outcome<true> = Object.freeze({ ok: true });

/** Most answers say no more than that it is done: they are one and the same. */
export function okOf<T>(ok: T): Outcome<T> {
  return ok === true ? (DONE as Outcome<T>) : { ok };
}

/** The answer for one item of a batch: what `call` answers, or why it was refused. */
export function outcomeOf<T>(call: () => T): Outcome<T> {
  try {
    return okOf(call());
  } catch (error) {
    return { error: errorJson(error) };
  }
}

/** The refusal of one field: names the field, what was wanted and what came. */
export function invalid(field: string, wanted: string, value: unknown): SluiceError {
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 64)) : String(value);
  return new SluiceError("INVALID", `${field} must be ${wanted}, got ${shown}`, { field, value });
}

/** Errors about a job that is part of something larger name where in it the job is. */
import { SluiceError } from "./errors.ts";

/** Does something whose errors name fields of `job`; they are named as fields of `field`. */
export function underField<T>(field: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof SluiceError ? renamed(error, field) : error;
  }
}

function renamed(error: SluiceError, to: string): SluiceError {
  const { code, message, details } = error;
  const { field } = details;
  if (typeof field !== "string" || !message.startsWith(field)) return error;
  const name = field.startsWith("job.") ? field.slice("job".length) : `.${field}`;
  const own = `${to}${name}`;
  const text = own + message.slice(field.length);
  return new SluiceError(code, text, { ...details, field: own }, { cause: error.cause });
}

import { SluiceError } from "@sluice/protocol";

/** The refusal of one field of the input: names the field, what was wanted and what came. */
export function invalid(field: string, wanted: string, value: unknown): SluiceError {
  return new SluiceError("INVALID", `${field} must be ${wanted}, got ${show(value)}`, {
    field,
    value: plain(value),
  });
}

/** A name that nobody knows is mostly a misspelt one, and would be ignored in silence. */
export function unknownField(field: string, known: readonly string[], value: unknown): SluiceError {
  const message = `${field} is not a known field; known are ${known.join(", ")}`;
  return new SluiceError("INVALID", message, {
    field,
    value: plain(value),
  });
}

export function show(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 64 ? `${value.slice(0, 61)}...` : value);
  }
  if (typeof value === "function") return "a function";
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}

/** Details travel as JSON, so they carry only what JSON can. */
export function plain(value: unknown): unknown {
  const isPlain = value === null || Number.isFinite(value) || value === !!value;
  return isPlain || typeof value === "string" ? value : show(value);
}

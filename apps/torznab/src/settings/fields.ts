/** Reads what people wrote; each refusal names the field and the value it got. */
import { type Duration, SluiceError } from "sluice";
import { WINDOWS_MAX } from "../limits.ts";
import { redact } from "../redact.ts";
import type { Window } from "../scheduler/limits-of.ts";

export type Fields = Readonly<Record<string, unknown>>;

const SHOWN_CHARS_MAX = 100;

/** Names that people give to secrets, right or misspelt. */
const SECRET_NAME = /(api|pass|auth|rss)[_-]?key|^key$|passw|token|secret/i;

export function invalid(field: string, wanted: string, got: unknown): SluiceError {
  const value = shown(field, got);
  return new SluiceError("INVALID", `${field} must be ${wanted}, got ${value}`, { field, value });
}

/** The value as a log may show it: without keys, also within other values. */
function shown(field: string, value: unknown): string {
  const name = field.slice(field.lastIndexOf(".") + 1);
  if (SECRET_NAME.test(name)) return hidden(value);
  const hide = (key: string, inner: unknown) => (SECRET_NAME.test(key) ? "REDACTED" : inner);
  const text = typeof value === "string" ? value : (JSON.stringify(value, hide) ?? "nothing");
  return redact(text.slice(0, SHOWN_CHARS_MAX));
}

function hidden(value: unknown): string {
  if (typeof value !== "string") return "something else, which is not shown";
  return `${value.length} characters, which are not shown`;
}

export function fieldsOf(field: string, value: unknown, known: readonly string[]): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(field, "an object", value);
  }
  for (const name of Object.keys(value)) {
    if (known.includes(name)) continue;
    // The message omits the value: it may be a key under a misspelt name.
    const path = `${field}.${name.slice(0, SHOWN_CHARS_MAX)}`;
    const message = `${path} is not a known field; known are ${known.join(", ")}`;
    throw new SluiceError("INVALID", message, { field: path });
  }
  return value as Fields;
}

export function text(field: string, value: unknown, max: number): string {
  if (typeof value === "string" && value !== "" && value.length <= max) return value;
  throw invalid(field, `a text of 1 to ${max} characters`, value);
}

export function whole(field: string, value: unknown, min: number, max: number): number {
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  if (Number.isInteger(number) && Number(number) >= min && Number(number) <= max) {
    return Number(number);
  }
  throw invalid(field, `a whole number from ${min} to ${max}`, value);
}

export function bool(field: string, value: unknown): boolean {
  if (value === true || value === "true" || value === "1") return true;
  if (value === false || value === "false" || value === "0") return false;
  throw invalid(field, "true or false", value);
}

/**
 * Returns a string or a number as a string, and an empty string for everything else, because some
 * values cannot be converted.
 */
export function scalar(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Milliseconds, or a text such as `30s`. */
export function durationMs(field: string, value: unknown, max: number): number {
  const [, digits, unit = "ms"] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(scalar(value)) ?? [];
  const ms = digits === undefined ? Number.NaN : Number(digits) * UNITS[unit]!;
  if (ms >= 0 && ms <= max) return Math.round(ms);
  throw invalid(field, `a duration such as "30s", of at most ${max} ms`, value);
}

/** The same, and longer than nothing. */
export function positiveMs(field: string, value: unknown, max: number): number {
  const ms = durationMs(field, value, max);
  if (ms > 0) return ms;
  throw invalid(field, "longer than nothing", value);
}

const DAY_MS = 86_400_000;
const WINDOW_MS_MAX = 31 * DAY_MS;

/** A list of `{ limit, per }`, where `per` may also be a word. */
export function windowsOf(field: string, value: unknown): Window[] {
  if (!Array.isArray(value) || value.length > WINDOWS_MAX) {
    throw invalid(field, `a list of at most ${WINDOWS_MAX} of { limit, per }`, value);
  }
  return value.map((item, index) => {
    const at = `${field}[${index}]`;
    const { limit, per } = fieldsOf(at, item, ["limit", "per"]);
    return { limit: whole(`${at}.limit`, limit, 1, 1_000_000), per: perOf(`${at}.per`, per) };
  });
}

const PERIODS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: DAY_MS };

function perOf(field: string, value: unknown): Duration {
  const named = typeof value === "string" ? PERIODS[value] : undefined;
  return named ?? positiveMs(field, value, WINDOW_MS_MAX);
}

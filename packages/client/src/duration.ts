/**
 * The one parser of durations: milliseconds as a number, or a number with a unit. What comes out
 * are whole milliseconds, as the port wants them.
 */
import { invalid } from "./invalid.ts";
import { DURATION_MS_MAX, LEASE_MS_MAX, TIME_MS_MAX } from "./limits.ts";

type Unit = "ms" | "s" | "m" | "h" | "d";

/** Milliseconds, or a number with a unit: `"250ms"`, `"30s"`, `"5m"`, `"1.5h"`, `"2d"`. */
export type Duration = number | `${number}${Unit}`;

/** A point in time: a date, or wall-clock milliseconds. */
export type Time = Date | number;

const MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const A_DURATION = 'milliseconds or a string such as "250ms", "30s", "5m", "1h" or "2d"';

export function parseDuration(
  field: string,
  value: unknown,
  max = DURATION_MS_MAX,
  min = 0,
): number {
  const said = typeof value === "string" ? parseText(value) : value;
  const ms = typeof said === "number" ? Math.round(said) : Number.NaN;
  // Both are false for NaN, and fractions below zero are no duration either.
  if (ms >= min && ms <= max && !Object.is(ms, -0)) return ms;
  const bound = ms > max ? ` of at most ${max} ms` : ms >= 0 ? ` of at least ${min} ms` : "";
  throw invalid(field, `${A_DURATION}${bound}`, value);
}

/** How long a job may be held without a sign of life. */
export function parseLease(field: string, value: unknown): number {
  return parseDuration(field, value, LEASE_MS_MAX, 1);
}

function parseText(text: string): number {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  return unit === undefined ? Number.NaN : Number(digits) * MS[unit]!;
}

export function parseTime(field: string, value: unknown): number {
  const ms = value instanceof Date ? value.getTime() : value;
  if (typeof ms === "number" && ms >= 0 && ms <= TIME_MS_MAX) return ms;
  throw invalid(field, "a valid Date or wall-clock milliseconds", value);
}

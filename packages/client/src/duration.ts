/**
 * The one parser of durations: milliseconds as a number, or a number with a unit. What comes out
 * are whole milliseconds, as the port wants them.
 */
import { invalid } from "./invalid.ts";
import { DURATION_MS_MAX, TIME_MS_MAX } from "./limits.ts";

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

export function parseDuration(field: string, value: unknown, max = DURATION_MS_MAX): number {
  const ms = typeof value === "string" ? parseText(value) : value;
  // The comparisons are false for NaN and for what is no number, so they are refused too.
  if (typeof ms === "number" && ms >= 0 && ms <= max) return Math.round(ms);
  const bound = typeof ms === "number" && ms > max ? ` of at most ${max} ms` : "";
  throw invalid(field, `${A_DURATION}${bound}`, value);
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

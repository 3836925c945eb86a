/**
 * The one parser of durations: milliseconds as a number, or a number with a unit. The result is
 * whole milliseconds.
 */
import { invalid, type Kind } from "./kinds.ts";
import { DURATION_MS_MAX, LEASE_MS_MAX, LEASE_WAIT_MS_MAX, TIME_MS_MAX } from "./limits.ts";

type Unit = "ms" | "s" | "m" | "h" | "d";

/** Milliseconds, or a number with a unit: `"250ms"`, `"30s"`, `"5m"`, `"1.5h"`, `"2d"`. */
export type Duration = number | `${number}${Unit}`;

/** A point in time: a date, or wall-clock milliseconds. */
export type Time = Date | number;

const MS: Readonly<Record<Unit, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const PATTERN = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

const A_DURATION = 'milliseconds or a string such as "250ms", "30s", "5m", "1h" or "2d"';

export function parseDuration(
  field: string,
  value: unknown,
  max = DURATION_MS_MAX,
  min = 0,
): number {
  const given = typeof value === "string" ? parseText(value) : value;
  const ms = typeof given === "number" ? Math.round(given) : Number.NaN;
  // Both are false for NaN, and fractions below zero are no duration either.
  if (ms >= min && ms <= max && !Object.is(ms, -0)) return ms;
  const bound = ms > max ? ` of at most ${max} ms` : ms >= 0 ? ` of at least ${min} ms` : "";
  throw invalid(field, `${A_DURATION}${bound}`, value);
}

function parseText(text: string): number {
  const [, digits, unit] = PATTERN.exec(text) ?? [];
  return unit === undefined ? Number.NaN : Number(digits) * MS[unit as Unit];
}

/** The shortest text of a duration, for people: "30s", "1d". */
export function durationText(ms: number): string {
  const units = Object.entries(MS).reverse();
  const [unit, length] = units.find(([, one]) => ms >= one && ms % one === 0) ?? ["ms", 1];
  return `${ms / length}${unit}`;
}

export function duration(min = 0, max = DURATION_MS_MAX): Kind<number, Duration> {
  const from = min > 0 ? ` of at least ${durationText(min)}` : "";
  const to = max < DURATION_MS_MAX ? ` ${min > 0 ? "and" : "of"} at most ${durationText(max)}` : "";
  return {
    words: `a duration${from}${to}`,
    schema: {
      anyOf: [
        { type: "number", minimum: min, maximum: max },
        { type: "string", pattern: PATTERN.source },
      ],
    },
    parse: (field, value) => parseDuration(field, value, max, min),
    fromText: (text) => (/^\d+$/.test(text) ? Number(text) : text),
    check(field, value) {
      if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return;
      throw invalid(field, `whole milliseconds from ${min} to ${max}`, value);
    },
  };
}

/** How long a job may be held without a sign of life. */
export const LEASE: Kind<number, Duration> = duration(1, LEASE_MS_MAX);

/** How long a caller may wait for a job to take. */
export const WAIT: Kind<number, Duration> = duration(0, LEASE_WAIT_MS_MAX);

export const TIME: Kind<number, Time> = {
  words: "a Date, or milliseconds since 1970",
  schema: { type: "number", minimum: 0, maximum: TIME_MS_MAX },
  parse(field, value) {
    const ms = value instanceof Date ? value.getTime() : value;
    if (typeof ms === "number" && ms >= 0 && ms <= TIME_MS_MAX) return ms;
    throw invalid(field, "a valid Date or wall-clock milliseconds", value);
  },
  check(field, value) {
    if (typeof value === "number" && value >= 0 && value <= TIME_MS_MAX) return;
    throw invalid(field, "wall-clock milliseconds", value);
  },
};

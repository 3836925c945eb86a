// Repeated measurements are reported as their median and their spread.

import type { Conditions, Figure } from "./figure.ts";

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return {
    median: (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2,
    min: sorted[0]!,
    max: sorted.at(-1)!,
  };
}

// Four digits: the fifth is noise in every figure here.
export function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

// The conditions of a figure that was measured several times.
export function spreadConditions(spread: Spread): { min: number; max: number } {
  return { min: rounded(spread.min), max: rounded(spread.max) };
}

// The figure of something that was measured several times.
export function figureOf(
  metric: string,
  unit: string,
  values: readonly number[],
  conditions: Conditions,
): Figure {
  const spread = spreadOf(values);
  const told = { ...conditions, runs: values.length, ...spreadConditions(spread) };
  return { metric, value: rounded(spread.median), unit, conditions: told };
}

// Measures so often, one after the other.
export async function repeat<T>(runs: number, measure: () => T | Promise<T>): Promise<T[]> {
  const values: T[] = [];
  for (let run = 0; run < runs; run++) values.push(await measure());
  return values;
}

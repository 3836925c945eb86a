// The value that this share of the values, from 0 to 1, is not above.
export function percentileOf(values: Float64Array | readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!;
}

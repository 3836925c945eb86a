/**
 * Sizes of tiers under load: capacity moves to where jobs wait, each tier between half and twice
 * its configured size, and the total does not change.
 */
import type { TierSize } from "./config.ts";

const ROUNDS = 60;

/** `loads` are what each tier has waiting and has had to turn away, in jobs. */
export function sizesFor(tiers: readonly TierSize[], loads: readonly number[]): number[] {
  const total = tiers.reduce((sum, { capacity }) => sum + capacity, 0);
  const low = tiers.map(({ capacity }) => Math.ceil(capacity / 2));
  const high = tiers.map(({ capacity }) => capacity * 2);
  // An idle tier is worth its configured size, so that sizes go back when the load is gone.
  const wants = tiers.map(({ capacity }, i) => capacity + 2 * (loads[i] ?? 0));
  const sizesAt = (factor: number): number[] =>
    wants.map((want, i) => Math.floor(clamp(want * factor, low[i]!, high[i]!)));
  // The sum rises with the factor; the largest one whose sum is not above the total is taken.
  let below = 0;
  let above = 2;
  for (let round = 0; round < ROUNDS; round++) {
    const middle = (below + above) / 2;
    if (sum(sizesAt(middle)) <= total) below = middle;
    else above = middle;
  }
  const sizes = sizesAt(below);
  for (let left = total - sum(sizes), i = 0; left > 0; i = (i + 1) % sizes.length) {
    if (sizes[i]! >= high[i]!) continue;
    sizes[i]! += 1;
    left -= 1;
  }
  return sizes;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

import assert from "node:assert/strict";
import { SluiceError } from "../errors.ts";

/** The field that a refusal names; empty when nothing is refused. */
export function refused(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof SluiceError && error.code === "INVALID", String(error));
    const { field } = error.details;
    assert.ok(error.message.startsWith(`${field} `), error.message);
    return String(field);
  }
  return "";
}

/** Field, least and largest value, the options that carry it, and a step below the least. */
export type Bound = readonly [string, number, number, (value: unknown) => unknown, number?];

/** Holds that each number is accepted from its least to its largest value, and not beyond. */
export function holdsBounds(
  bounds: readonly Bound[],
  refusedFor: (options: unknown) => string,
): void {
  for (const [field, min, max, options, below = 1] of bounds) {
    for (const good of [min, min + 1, max - 1, max]) {
      assert.equal(refusedFor(options(good)), "", `${field}: ${good}`);
    }
    for (const bad of [min - below, max + 1, Number.NaN, Infinity, true, {}]) {
      assert.equal(refusedFor(options(bad)), field, `${field}: ${bad}`);
    }
  }
}

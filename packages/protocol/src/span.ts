/** Times in sentences for people: exact while it matters, and no longer than it can be read. */

const UNITS: readonly (readonly [ms: number, name: string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** `840 ms`, `12 s`, `90 s`, `14 min`: at least two of a unit, else one smaller. */
export function span(ms: number): string {
  const unit = UNITS.find(([size]) => ms >= 2 * size);
  return unit === undefined ? `${ms} ms` : `${Math.round(ms / unit[0])} ${unit[1]}`;
}

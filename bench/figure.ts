// What a benchmark prints: a figure with its conditions, and whether it reaches its target.

export type Conditions = Readonly<Record<string, string | number | boolean>>;

export type Target = { readonly atLeast: number } | { readonly atMost: number };

export interface Figure {
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
  // Whoever compares two figures compares these first.
  readonly conditions: Conditions;
  readonly target?: Target;
}

export interface Scale {
  readonly isQuick: boolean;
  // How often each measurement is repeated.
  readonly runs: number;
  // The size to use in place of the full one.
  size(full: number): number;
}

// A part of a benchmark that has a process of its own, so that no figure depends on the heap and
// the compiled code that another one left behind.
export interface Group {
  readonly name: string;
  run(scale: Scale, report: (figure: Figure) => void): void | Promise<void>;
}

export interface Bench {
  readonly name: string;
  readonly groups: readonly Group[];
}

const QUICK_DIVISOR = 10;

export const FULL: Scale = { isQuick: false, runs: 5, size: (full) => full };
export const QUICK: Scale = { isQuick: true, runs: 3, size: (full) => full / QUICK_DIVISOR };

export function reachesTarget(value: number, target: Target): boolean {
  return "atLeast" in target ? value >= target.atLeast : value <= target.atMost;
}

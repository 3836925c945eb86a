// What a benchmark prints: a figure with its conditions, and whether it reaches its target.

export type Conditions = Readonly<Record<string, string | number | boolean>>;

export type Target = { readonly atLeast: number } | { readonly atMost: number };

export interface Figure {
  readonly metric: string;
  readonly value: number;
  readonly unit: string;
  // Compare the conditions of two figures before their values.
  readonly conditions: Conditions;
  readonly target?: Target;
}

export interface Scale {
  readonly name: "quick" | "usual" | "full";
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
  // Its figures are reported as they come, or answered in the end.
  run(scale: Scale, report: Report, progress: Progress): Figures | Promise<Figures> | Promise<void>;
}

export type Report = (figure: Figure) => void;
type Figures = readonly Figure[] | Figure;

// How much of a group is done, from 0 to 1, and what is under way.
export type Progress = (share: number, what: string) => void;

// What is left to do when the last group of a benchmark has ended.
export interface Finish {
  readonly figures: readonly Figure[];
  readonly scale: Scale;
  // All groups were asked for, and none has failed.
  readonly isWhole: boolean;
  // The page in docs is to be written.
  readonly writesDocs: boolean;
}

export interface Bench {
  readonly name: string;
  readonly groups: readonly Group[];
  // Too long, or too much to fetch, for those who ask for nothing in particular.
  readonly isOnlyNamed?: boolean;
  finish?(end: Finish): void;
}

const QUICK_DIVISOR = 10;

const USUAL: Scale = { name: "usual", isQuick: false, runs: 5, size: (full) => full };
const FULL: Scale = { ...USUAL, name: "full" };
const QUICK: Scale = {
  name: "quick",
  isQuick: true,
  runs: 3,
  size: (full) => full / QUICK_DIVISOR,
};

export const SCALES = { usual: USUAL, full: FULL, quick: QUICK } as const;

export function reachesTarget(value: number, target: Target): boolean {
  return "atLeast" in target ? value >= target.atLeast : value <= target.atMost;
}

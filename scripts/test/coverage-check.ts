// Holds the engine to its branch coverage, from the unit tests of this run.

import { type Ratio, readCoverage } from "./coverage.ts";
import { ENGINE_FOLDER } from "./engine-tests.ts";
import type { Failure } from "./tally.ts";

// The engine is a pure function: what its tests do not reach is either dead or unproven. The rest
// is for the branches of assertions, which only a bug can take.
const ENGINE_BRANCHES_PERCENT_MIN = 98;

const MISSED_SHOWN_MAX = 50;

export interface CoverageCheck {
  readonly line: string;
  readonly failure: Failure | undefined;
}

export function checkEngineCoverage(root: string, coverageDir: string): CoverageCheck {
  const coverage = readCoverage({ root, folder: ENGINE_FOLDER, coverageDir });
  const percent = percentOf(coverage.branches);
  const line = `coverage engine: lines ${show(coverage.lines)} branches ${show(coverage.branches)}`;
  if (percent >= ENGINE_BRANCHES_PERCENT_MIN) return { line, failure: undefined };
  const missed = coverage.missed.slice(0, MISSED_SHOWN_MAX).join("\n");
  const rest = coverage.missed.length - MISSED_SHOWN_MAX;
  return {
    line,
    failure: {
      title: `coverage of the engine's branches is under ${ENGINE_BRANCHES_PERCENT_MIN} %`,
      detail: `never ran:\n${missed}${rest > 0 ? `\nand ${rest} more` : ""}`,
    },
  };
}

function percentOf({ covered, total }: Ratio): number {
  return total === 0 ? 100 : (100 * covered) / total;
}

// Rounded down, so that a figure below the limit is never shown as the limit.
function show(ratio: Ratio): string {
  return `${(Math.floor(percentOf(ratio) * 100) / 100).toFixed(2)} %`;
}

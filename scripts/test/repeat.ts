// Tests with real servers and browsers fail now and then beside other files on a busy machine.
// Their files are run once more, alone. If all pass, the run does not fail, but shows each of them
// as unsteady, with what it said at first: a test to mend, or a race in the product.

import type { Suite } from "./suites.ts";
import type { Counts, Tally } from "./tally.ts";

// More than these are no accident.
const FILES_MAX = 3;

// What must not happen once, however busy the machine is: a promise that was broken.
const NEVER = /violat|\blost\b|\btwice\b|LOG_DAMAGED/i;

export function isWorthRepeating({ isRepeated = false }: Suite, tally: Tally): boolean {
  const { failures, failedFiles } = tally;
  if (!isRepeated || failures.length === 0 || failedFiles.size === 0) return false;
  if (failedFiles.size > FILES_MAX) return false;
  return failures.every(({ detail }) => !NEVER.test(detail));
}

// The tests that failed have passed.
export function forgiven({ passed, failed, skipped }: Counts): Counts {
  return { passed: passed + failed, failed: 0, skipped };
}

// What the reader of a test run sees.

import type { SuiteResult } from "./run-suite.ts";
import type { Counts, Failure } from "./tally.ts";

export const NO_COUNTS: Counts = { passed: 0, failed: 0, skipped: 0 };

export function addCounts(a: Counts, b: Counts): Counts {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
  };
}

export function finalLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

// Written so that it is never taken for the final line.
function suiteLine(result: SuiteResult): string {
  const name = result.name.padEnd(10);
  if (result.isAbsent) return `${name}  absent: the tree has no such test`;
  const { passed, failed, skipped } = result.counts;
  const verdict = failed > 0 ? "FAILED" : "ok";
  const seconds = (result.elapsedMs / 1000).toFixed(1);
  return `${name}  ${verdict.padEnd(6)}  ${passed} ok, ${failed} bad, ${skipped} skipped, ${seconds} s`;
}

export function printSuite(result: SuiteResult): void {
  console.log(suiteLine(result));
  for (const failure of result.failures) printFailure(failure);
  for (const { title, detail } of result.unsteady) {
    printFailure({ title: `unsteady: failed beside other files, passed alone: ${title}`, detail });
  }
  if (result.output !== "") console.log(indent(result.output));
}

// How long the whole run took, beside what it may take on two quiet cores.
export function timeLine(elapsedMs: number, quietMs: number, others: number | undefined): string {
  const took = `${(elapsedMs / 1000).toFixed(1)} s`;
  const verdict = elapsedMs > quietMs ? "LONG" : "ok";
  const beside = others === undefined ? "" : `; other programs used ${others.toFixed(1)} cores`;
  return `${"time".padEnd(10)}  ${verdict.padEnd(6)}  ${took} of ${quietMs / 1000} on two quiet cores${beside}`;
}

export function printFailure({ title, detail }: Failure): void {
  console.log(indent(`✗ ${title}\n${indent(detail.trimEnd())}\n`));
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "  ");
}

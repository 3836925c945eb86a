// The test run: suite after suite, one line each, failures in full, and one final line
// `N passed, N failed, N skipped`.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Plan, parseArguments, UsageError } from "./test/arguments.ts";
import { killAllChildren } from "./test/child.ts";
import { checkEngineCoverage } from "./test/coverage-check.ts";
import { isEngineTest } from "./test/engine-tests.ts";
import { writeFileTimes } from "./test/file-times.ts";
import { belongsTo, findTestFiles } from "./test/files.ts";
import { otherCores, readTimes } from "./test/other-work.ts";
import * as print from "./test/print.ts";
import { runQuick } from "./test/quick.ts";
import { runSuite } from "./test/run-suite.ts";
import { E2E_QUIET_MS, E2E_SUITES, QUIET_MS, SUITES, Time } from "./test/suites.ts";
import type { Counts } from "./test/tally.ts";

const root = dirname(import.meta.dirname);
// Counting makes hot loops several times slower, and the unit tests alone must reach the branches.
const COVERED_SUITES = ["unit"];
const EXIT_BY_SIGNAL = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

function endWithChildren(): void {
  process.on("exit", killAllChildren);
  for (const [signal, code] of Object.entries(EXIT_BY_SIGNAL)) {
    process.on(signal, () => {
      console.error(`interrupted by ${signal}`);
      process.exit(code);
    });
  }
}

async function runPlan(plan: Plan, files: readonly string[], coverageDir: string): Promise<Counts> {
  let counts = print.NO_COUNTS;
  const from = readTimes();
  const startMs = performance.now();
  // The tests that use the builds do not make them again.
  if (plan.suites === E2E_SUITES) process.env.SLUICE_BUILT = "1";
  const collects = collectsCoverage(plan, files);
  const time = new Time();
  for (const planned of plan.suites) {
    const suite = time.next(planned);
    const result = await runSuite({
      root,
      suite,
      files: files.filter((file) => belongsTo(suite, file)),
      coverageDir: collects && COVERED_SUITES.includes(suite.name) ? coverageDir : undefined,
    });
    time.used(suite, result.elapsedMs);
    print.printSuite(result);
    writeFileTimes(root, result.fileTimes);
    counts = print.addCounts(counts, result.counts);
  }
  if (collects) counts = print.addCounts(counts, judgeCoverage(coverageDir));
  const quietMs = quietMsOf(plan);
  if (quietMs !== undefined) {
    const to = readTimes();
    const others = from && to && otherCores(from, to);
    console.log(print.timeLine(performance.now() - startMs, quietMs, others));
  }
  return counts;
}

// Of a whole run; a part of it is not judged.
function quietMsOf({ suites, files }: Plan): number | undefined {
  if (files !== undefined) return undefined;
  if (suites === SUITES) return QUIET_MS;
  return suites === E2E_SUITES ? E2E_QUIET_MS : undefined;
}

// Half of the tests would give half of the coverage, so a partial run does not judge it.
function collectsCoverage(plan: Plan, files: readonly string[]): boolean {
  const names = plan.suites.map((suite) => suite.name);
  const isWhole = plan.files === undefined && COVERED_SUITES.every((name) => names.includes(name));
  return isWhole && files.some(isEngineTest);
}

// The coverage is one test more.
function judgeCoverage(coverageDir: string): Counts {
  const { line, failure } = checkEngineCoverage(root, coverageDir);
  console.log(line);
  if (failure === undefined) return { passed: 1, failed: 0, skipped: 0 };
  print.printFailure(failure);
  return { passed: 0, failed: 1, skipped: 0 };
}

function runArguments(
  args: readonly string[],
  found: readonly string[],
  coverageDir: string,
): Promise<Counts> {
  const plan = parseArguments(args, root, found);
  return runPlan(plan, plan.files ?? found, coverageDir);
}

async function main(): Promise<void> {
  endWithChildren();
  const coverageDir = mkdtempSync(join(tmpdir(), "sluice-coverage-"));
  process.on("exit", () => rmSync(coverageDir, { recursive: true, force: true }));
  const found = findTestFiles(root);
  const args = process.argv.slice(2);
  const counts =
    args.join() === "quick"
      ? await runQuick(root, found)
      : await runArguments(args, found, coverageDir);
  if (counts.passed + counts.failed + counts.skipped === 0) console.log("There is no test to run.");
  console.log(print.finalLine(counts));
  process.exitCode = counts.failed > 0 ? 1 : 0;
}

try {
  await main();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}

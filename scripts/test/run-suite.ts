// Runs one suite within its budget and says how it went.

import { join, resolve } from "node:path";
import { type ChildEnd, runChild } from "./child.ts";
import { COMPILE_CACHE } from "./compile-cache.ts";
import { type FileTimes, longestFirst } from "./file-times.ts";
import { lineSplitter } from "./lines.ts";
import { forgiven, isWorthRepeating } from "./repeat.ts";
import type { CommandSource, Suite } from "./suites.ts";
import { type Counts, type Failure, Tally } from "./tally.ts";
import { divide } from "./together.ts";

export interface SuiteResult {
  readonly name: string;
  readonly isAbsent: boolean;
  readonly counts: Counts;
  readonly failures: readonly Failure[];
  // What failed beside other files and passed alone.
  readonly unsteady: readonly Failure[];
  readonly output: string;
  readonly elapsedMs: number;
  readonly fileTimes: FileTimes;
}

export interface SuiteRun {
  readonly root: string;
  readonly suite: Suite;
  // The test files of the suite; a suite that runs a command has none.
  readonly files: readonly string[];
  // Where V8 leaves its coverage, when it is collected.
  readonly coverageDir?: string | undefined;
}

// As many test files at a time as the smallest machine we promise our times on has cores.
export const CONCURRENCY = 2;

export async function runSuite(run: SuiteRun): Promise<SuiteResult> {
  const { suite } = run;
  if (suite.source.kind === "files" && run.files.length === 0) return absent(suite);
  const startMs = performance.now();
  const tally = new Tally(run.root, run.files);
  if (suite.source.kind === "command") await runCommand(run, suite.source, tally);
  else await runFiles(run, tally);
  const passesAlone = isWorthRepeating(suite, tally) && (await passesAgain(run, tally, startMs));
  const { counts, failures } = tally;
  return {
    name: suite.name,
    isAbsent: false,
    counts: withCommand(suite, passesAlone ? forgiven(counts) : counts),
    failures: passesAlone ? [] : failures,
    unsteady: passesAlone ? failures : [],
    output: tally.outputOfFailed(),
    elapsedMs: performance.now() - startMs,
    fileTimes: tally.fileTimes,
  };
}

async function passesAgain(run: SuiteRun, first: Tally, startMs: number): Promise<boolean> {
  const files = [...first.failedFiles];
  const again = new Tally(run.root, files);
  const leftMs = Math.max(1, Math.round(run.suite.budgetMs - (performance.now() - startMs)));
  const suite = { ...run.suite, concurrency: 1, budgetMs: leftMs, together: [] };
  await runFiles({ ...run, suite, files }, again);
  return again.failures.length === 0;
}

function absent(suite: Suite): SuiteResult {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const nothing = { failures: [], unsteady: [], output: "", elapsedMs: 0, fileTimes: new Map() };
  return { name: suite.name, isAbsent: true, counts, ...nothing };
}

// A command that did not fail is one test that passed.
function withCommand(suite: Suite, counts: Counts): Counts {
  return suite.source.kind === "command" ? { ...counts, passed: 1 - counts.failed } : counts;
}

async function runCommand({ root, suite }: SuiteRun, source: CommandSource, tally: Tally) {
  let output = "";
  const keep = (text: string): void => {
    output += text;
  };
  const end = await runChild([join(root, source.script), ...source.args], {
    cwd: root,
    budgetMs: suite.budgetMs,
    onOutput: keep,
    onErrorOutput: keep,
  });
  if (end.isOverBudget) tally.fail(suite.name, overBudget(suite));
  else if (end.code !== 0) tally.fail(suite.name, output);
}

async function runFiles({ root, suite, files, coverageDir }: SuiteRun, tally: Tally) {
  const { shared, alone } = divide(root, files, suite.together);
  tally.share(shared);
  let stray = "";
  const keepStray = (text: string): void => {
    stray += text;
  };
  const readLine = (line: string): void => {
    if (line.startsWith("{")) tally.add(JSON.parse(line));
    else keepStray(`${line}\n`);
  };
  const scope = coverageDir === undefined ? [] : ["--import", "./scripts/test/coverage-scope.ts"];
  const end = await runChild(
    [
      join(root, "scripts/test/run-files.ts"),
      String(suite.concurrency ?? CONCURRENCY),
      ...scope,
      ...(isRandom(suite) ? ["--import", "./scripts/test/daily-seed.ts"] : []),
      "--",
      ...[...shared.map(({ entry }) => entry), ...longestFirst(root, alone)].map((file) =>
        resolve(root, file),
      ),
    ],
    {
      cwd: root,
      env: environment(coverageDir),
      budgetMs: suite.budgetMs,
      onOutput: lineSplitter(readLine),
      onErrorOutput: keepStray,
    },
  );
  judgeEnd(suite, end, tally, stray);
}

// Suites of tests that draw their cases with fast-check; loading it costs the others too much.
function isRandom({ source }: Suite): boolean {
  if (source.kind !== "files") return false;
  return source.ending === ".prop.test.ts" || source.ending === ".fuzz.test.ts";
}

function judgeEnd(suite: Suite, end: ChildEnd, tally: Tally, stray: string): void {
  if (end.isOverBudget) {
    const running = tally.runningTests().map((test) => `\n  still running: ${test}`);
    tally.fail(suite.name, overBudget(suite) + running.join(""));
    return;
  }
  tally.finish();
  if (end.code !== 0 && tally.failures.length === 0) {
    tally.fail(suite.name, `The test runner ended with ${end.code ?? end.signal}.\n${stray}`);
  }
}

function overBudget(suite: Suite): string {
  return `The suite ${suite.name} was killed: it ran over its budget of ${suite.budgetMs / 1000} s.`;
}

function environment(coverageDir: string | undefined): NodeJS.ProcessEnv {
  const env = { ...process.env };
  // A test run started from within a test must not report to the outer one.
  delete env.NODE_TEST_CONTEXT;
  delete env.NODE_V8_COVERAGE;
  if (coverageDir === undefined) env.NODE_COMPILE_CACHE = COMPILE_CACHE;
  else env.NODE_V8_COVERAGE = coverageDir;
  return env;
}

// `npm test -- quick`: types, lint, house rules and the unit tests nearest to what differs from
// main, within a minute on two cores. What does not fit is counted, and left to the whole run.

import { globSync } from "node:fs";
import { changedFiles } from "./changed-files.ts";
import { readFileTimes, writeFileTimes } from "./file-times.ts";
import { ImportGraph } from "./import-graph.ts";
import { addCounts, NO_COUNTS, printSuite } from "./print.ts";
import { nextWave, planQuick, type QuickPlan } from "./quick-plan.ts";
import { runSuite, type SuiteResult } from "./run-suite.ts";
import { SUITES, TIDY_FOLDER } from "./suites.ts";
import type { Counts } from "./tally.ts";

// Short of the minute, because a file may take longer than the last time.
const QUICK_MS = 50_000;
// A file whose time is not known yet: most take less.
const UNKNOWN_MS = 1_500;
const CHECKS = ["types", "lint", "tidy"];

export async function runQuick(root: string, testFiles: readonly string[]): Promise<Counts> {
  const deadline = performance.now() + QUICK_MS;
  const changed = changedFiles(root);
  console.log(`quick: ${changed.length} files differ from main`);
  const results: SuiteResult[] = [];
  for (const name of CHECKS) {
    const files = testFiles.filter((file) => file.startsWith(TIDY_FOLDER));
    const suite = { ...suiteNamed(name), budgetMs: QUICK_MS };
    results.push(await runSuite({ root, suite, files }));
    printSuite(results.at(-1)!);
  }
  const plan = planQuick(changed, testFiles, distancesTo(root, changed));
  const waves = await runWaves(root, plan.files, deadline);
  const unit = sum(waves.results);
  printSuite(unit);
  writeFileTimes(root, unit.fileTimes);
  printLeftOut(plan, waves.count);
  return [...results, unit].map(({ counts }) => counts).reduce(addCounts);
}

function distancesTo(root: string, changed: readonly string[]): Map<string, number> {
  const sources = globSync("{packages,apps,bench,scripts}/**/*.ts", {
    cwd: root,
    exclude: (entry) => entry === "node_modules" || entry === "dist",
  });
  const files = sources.map((path) => path.replaceAll("\\", "/"));
  return new ImportGraph(root, files).distances(changed);
}

async function runWaves(
  root: string,
  files: readonly string[],
  deadline: number,
): Promise<{ results: SuiteResult[]; count: number }> {
  const times = readFileTimes(root);
  const timeOf = (file: string): number => times.get(file) ?? UNKNOWN_MS;
  const suite = suiteNamed("unit");
  const results: SuiteResult[] = [];
  let count = 0;
  for (let waiting = files; ; ) {
    const { wave, rest } = nextWave(waiting, timeOf, deadline - performance.now());
    if (wave.length === 0) return { results, count };
    results.push(await runSuite({ root, suite, files: wave }));
    count += wave.length;
    waiting = rest;
  }
}

function sum(results: readonly SuiteResult[]): SuiteResult {
  return {
    name: "unit",
    isAbsent: results.length === 0,
    counts: results.map(({ counts }) => counts).reduce(addCounts, NO_COUNTS),
    failures: results.flatMap(({ failures }) => failures),
    unsteady: results.flatMap(({ unsteady }) => unsteady),
    output: results.map(({ output }) => output).join(""),
    elapsedMs: results.reduce((ms, { elapsedMs }) => ms + elapsedMs, 0),
    fileTimes: new Map(results.flatMap(({ fileTimes }) => [...fileTimes])),
  };
}

function printLeftOut({ files, unvisited }: QuickPlan, count: number): void {
  const left = files.length - count;
  console.log(`quick: ran ${count} of ${files.length} test files that the changes reach`);
  if (left > 0) console.log(`quick: left out ${left}, further from the changes, for want of time`);
  if (unvisited > 0) console.log(`quick: left out ${unvisited} of apps and bench, as ever`);
  if (left + unvisited > 0) console.log("quick: `npm test` runs them all");
}

function suiteNamed(wanted: string): (typeof SUITES)[number] {
  return SUITES.find(({ name }) => name === wanted)!;
}

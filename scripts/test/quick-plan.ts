// Which test files `npm test -- quick` runs, nearest to the change first: unit tests that import a
// changed file, directly or through others, and changed test files of any kind but e2e.
//
// Apps, bench and scripts are visited only for changes of their own: what a change of the core does
// to them is for the whole run to find.

import { CONCURRENCY } from "./run-suite.ts";
import { SPECIAL_ENDINGS } from "./suites.ts";

// Between waves the clock is looked at.
const WAVE_MS = 10_000;
const CORE = "packages/";
const E2E = ".e2e.test.ts";

export interface QuickPlan {
  // In the order in which they run.
  readonly files: readonly string[];
  // Test files that import a change and lie in a unit that is not visited.
  readonly unvisited: number;
}

export function planQuick(
  changed: readonly string[],
  testFiles: readonly string[],
  distances: ReadonlyMap<string, number>,
): QuickPlan {
  const changedUnits = new Set(changed.map(unitOf));
  const isChanged = new Set(changed);
  const reached = testFiles.filter((file) => distances.has(file));
  const wanted = reached.filter((file) => isUnit(file) || (isChanged.has(file) && !isE2e(file)));
  const isVisited = (file: string): boolean =>
    file.startsWith(CORE) || changedUnits.has(unitOf(file));
  const rank = (file: string): number =>
    2 * distances.get(file)! + (changedUnits.has(unitOf(file)) ? 0 : 1);
  const files = wanted.filter(isVisited);
  files.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  return { files, unvisited: wanted.length - files.length };
}

// The files that run next, in order: about as many as end within `WAVE_MS`. A file that took longer
// than what is left is in neither list.
export function nextWave(
  files: readonly string[],
  timeOf: (file: string) => number,
  leftMs: number,
): { wave: string[]; rest: string[] } {
  const fitting = files.filter((file) => timeOf(file) <= leftMs);
  let room = Math.min(WAVE_MS, leftMs) * CONCURRENCY;
  let count = 0;
  for (; count < fitting.length; count++) {
    room -= timeOf(fitting[count]!);
    // A long file is a wave of its own.
    if (room < 0 && count > 0) break;
  }
  return { wave: fitting.slice(0, count), rest: fitting.slice(count) };
}

// `packages/broker`, `apps/torznab`, or the first folder.
function unitOf(file: string): string {
  const parts = file.split("/");
  const isInFamily = parts[0] === "packages" || parts[0] === "apps";
  return parts.slice(0, isInFamily ? 2 : 1).join("/");
}

function isUnit(file: string): boolean {
  return !SPECIAL_ENDINGS.some((ending) => file.endsWith(ending));
}

function isE2e(file: string): boolean {
  return file.endsWith(E2E);
}

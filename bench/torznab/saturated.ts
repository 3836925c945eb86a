// More searches than the limits let through, on a fake clock: how much of each limit is used while
// work waits, and whether one was ever exceeded. Half of the indexers have a window, half only the
// spacing between two requests.

import { type Indexer, SearchScheduler } from "@sluice/torznab";
import { FakeClock, Sluice } from "sluice";
import type { Group } from "../figure.ts";
import { percentileOf } from "../percentile.ts";

const SEARCHES = 10_000;
const INDEXERS = 50;
const WORKERS = 50;
const HOUR_MS = 3_600_000;
const WINDOW = { limit: 60, per: HOUR_MS };
const BASE_MS = 10_000;
const FLOOR_MS = 2_000;
// By tier: a person's, feeds, completion. What waits for ten minutes moves up one.
const SPACING_MS = [2_000, 5_000, 7_000] as const;
const TOOK_MS = 500;
// Every tenth search is a person's; they arrive one after the other, the others at once.
const INTERACTIVE_EVERY_MS = 1_500;
const PROMOTED_MS = 600_000;

interface Request {
  readonly start: number;
  readonly spacingMs: number;
  readonly isPerson: boolean;
}

interface Run {
  readonly clock: FakeClock;
  readonly requests: readonly Request[][];
  readonly left: number[];
  readonly waits: { window: number[]; spacing: number[] };
}

const hasWindow = (i: number): boolean => i % 2 === 0;

function indexerOf(i: number): Indexer {
  const limits = { interval: BASE_MS, floor: FLOOR_MS };
  return { id: `i${i}`, name: `${i}`, ...limits, ...(hasWindow(i) ? { windows: [WINDOW] } : {}) };
}

function submit(scheduler: SearchScheduler, run: Run, n: number, isPerson: boolean): void {
  const i = n % INDEXERS;
  const submittedAt = run.clock.now();
  const priority = isPerson ? "interactive" : "completion";
  run.left[i]! += 1;
  scheduler.submit({
    indexers: [indexerOf(i)],
    params: n,
    priority,
    maxWait: Infinity,
    exec: async () => {
      const start = run.clock.now();
      const promotions = Math.floor((start - submittedAt) / PROMOTED_MS);
      const spacingMs = SPACING_MS[Math.max(0, (isPerson ? 0 : 2) - promotions)]!;
      run.requests[i]!.push({ start, spacingMs, isPerson });
      run.left[i]! -= 1;
      if (isPerson) run.waits[hasWindow(i) ? "window" : "spacing"].push(start - submittedAt);
      await new Promise<void>((resolve) => {
        run.clock.at(run.clock.now() + TOOK_MS, resolve);
      });
      return { results: [] };
    },
  });
}

async function simulate(searches: number): Promise<Run> {
  const clock = new FakeClock();
  const run: Run = {
    clock,
    requests: Array.from({ length: INDEXERS }, () => []),
    left: new Array<number>(INDEXERS).fill(0),
    waits: { window: [], spacing: [] },
  };
  await using sluice = await Sluice.open({ durability: "memory", clock });
  const scheduler = await SearchScheduler.open({ sluice, clock, workers: WORKERS });
  const persons = searches / 10;
  for (let n = 0; n < searches - persons; n++) submit(scheduler, run, n, false);
  for (let n = 0; n < persons; n++) {
    submit(scheduler, run, n * 7, true);
    await clock.advance(INTERACTIVE_EVERY_MS);
  }
  while (run.left.some((count) => count > 0)) await clock.advance("10m");
  await scheduler.stop({ timeout: 0 });
  return run;
}

// How often a limit was exceeded: never is the only right answer.
function violations(requests: readonly Request[], i: number): number {
  return requests.filter(({ start, spacingMs }, at) => {
    const last = requests[at - 1];
    const before = requests[at - WINDOW.limit];
    const isTooSoon = last !== undefined && start - last.start - TOOK_MS < spacingMs;
    return isTooSoon || (hasWindow(i) && before !== undefined && start - before.start < WINDOW.per);
  }).length;
}

// Of the requests that a window allows in the whole windows during which work waited.
function windowShare(requests: readonly Request[]): number {
  const [first] = requests;
  const last = requests.at(-1);
  if (first === undefined || last === undefined) return 1;
  const windows = Math.floor((last.start - first.start) / WINDOW.per);
  const end = first.start + windows * WINDOW.per;
  const used = requests.filter(({ start }) => start < end).length;
  return windows === 0 ? 1 : used / (windows * WINDOW.limit);
}

// Of the time in which work waited, the part that was spacing or a request. After the last search
// of the backlog only persons are left, who do not ask all the time.
function spacingShare(requests: readonly Request[]): number {
  const end = requests.findLastIndex(({ isPerson }) => !isPerson);
  const [first, ...rest] = requests.slice(0, end + 1);
  const last = rest.at(-1);
  if (first === undefined || last === undefined) return 1;
  const needed = rest.reduce((sum, { spacingMs }) => sum + spacingMs + TOOK_MS, 0);
  return needed / (last.start - first.start);
}

export const saturatedGroups: Group[] = [
  {
    name: "saturated",
    async run(scale, report) {
      const searches = scale.size(SEARCHES);
      const { requests, waits } = await simulate(searches);
      const conditions = {
        searches,
        indexers: INDEXERS,
        requests: requests.reduce((sum, list) => sum + list.length, 0),
        window: "60 per hour, at every other indexer",
        spacing: "2 s for a person, 7 s for the rest, less when promoted",
        clock: "fake",
      };
      const exceeded = requests.reduce((sum, list, i) => sum + violations(list, i), 0);
      const never = { atMost: 0 };
      report({
        metric: "saturated: limits exceeded",
        value: exceeded,
        unit: "times",
        conditions,
        target: never,
      });
      const shareOf = (name: string, isOf: (i: number) => boolean, read: typeof windowShare) => {
        const shares = requests.filter((_, i) => isOf(i)).map(read);
        const metric = `saturated: share of the ${name} used, least of all indexers`;
        const value = Math.min(...shares);
        report({ metric, value, unit: "×", conditions, target: { atLeast: 0.95 } });
      };
      shareOf("window", hasWindow, windowShare);
      shareOf("spacing", (i) => !hasWindow(i), spacingShare);
      for (const [name, list] of Object.entries(waits)) {
        const metric = `saturated: a person's wait, p99, indexers with ${name}`;
        report({ metric, value: percentileOf(list, 0.99) / 1_000, unit: "s", conditions });
      }
    },
  },
];

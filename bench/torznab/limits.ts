// Half a day of searches over indexers with limits, on a fake clock: every start is checked against
// every window, against the spacing of its priority and against one request at a time.

import { type Indexer, type Priority, SearchScheduler } from "@sluice/torznab";
import { FakeClock, Sluice } from "sluice";
import type { Group } from "../figure.ts";
import { percentileOf } from "../percentile.ts";

const SEARCHES = 10_000;
const INDEXERS = 200;
const PER_SEARCH = 5;
const BETWEEN_MS = 4_000;
const WORKERS = 50;
const WINDOWS = [
  { limit: 12, per: 600_000 },
  { limit: 60, per: 3_600_000 },
];
const BASE_MS = 60_000;
const SPACING_MS = { interactive: 6_000, rss: 30_000, completion: 42_000, background: 60_000 };
const PROMOTED_MS = 600_000;
const PRIORITIES = Object.keys(SPACING_MS) as Priority[];

interface Request {
  readonly priority: Priority;
  readonly start: number;
  readonly isPromoted: boolean;
  end: number;
}

interface Run {
  readonly pick: () => number;
  readonly clock: FakeClock;
  readonly requests: Map<string, Request[]>;
  readonly waits: Record<Priority, number[]>;
  tasks: number;
  skipped: number;
}

function indexerOf(i: number): Indexer {
  return { id: `i${i}`, name: `Indexer ${i}`, interval: BASE_MS, windows: WINDOWS };
}

// Requests take from nothing to three seconds, always the same ones the same time.
function tookMs(n: number): number {
  return (n * 7_919) % 3_000;
}

// Some indexers are asked more often than others: the first one twice as often as the average.
function skewed(): () => number {
  let state = 42;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) ** 1.15 * INDEXERS);
  };
}

function submitOne(scheduler: SearchScheduler, run: Run, n: number): void {
  const priority = PRIORITIES[n % PRIORITIES.length]!;
  const submittedAt = run.clock.now();
  const indexers = Array.from({ length: PER_SEARCH }, () => indexerOf(run.pick()));
  run.tasks += PER_SEARCH;
  scheduler.submit({
    indexers,
    params: n,
    priority,
    exec: async ({ id }) => {
      const start = run.clock.now();
      const isPromoted = start - submittedAt >= PROMOTED_MS;
      const request: Request = { priority, start, isPromoted, end: Infinity };
      run.requests.get(id)!.push(request);
      run.waits[priority].push(start - submittedAt);
      await new Promise<void>((resolve) => {
        run.clock.at(run.clock.now() + tookMs(n), resolve);
      });
      request.end = run.clock.now();
      return { results: [] };
    },
    onComplete: ({ status }) => {
      if (status === "rate_limited") run.skipped++;
    },
  });
}

// How often a limit was exceeded: never is the only right answer.
function violations(requests: readonly Request[]): number {
  let count = 0;
  for (const [i, { start, priority, isPromoted }] of requests.entries()) {
    for (const { limit, per } of WINDOWS) {
      const before = requests[i - limit];
      if (before !== undefined && start - before.start < per) count++;
    }
    const last = requests[i - 1];
    // What waited for ten minutes was promoted, and is spaced as the tier it was promoted to.
    const spacingMs = isPromoted ? SPACING_MS.interactive : SPACING_MS[priority];
    if (last !== undefined && start - last.end < spacingMs) count++;
  }
  return count;
}

async function simulate(searches: number): Promise<Run> {
  const clock = new FakeClock();
  const run: Run = {
    pick: skewed(),
    clock,
    requests: new Map(Array.from({ length: INDEXERS }, (_, i) => [`i${i}`, []])),
    waits: { interactive: [], rss: [], completion: [], background: [] },
    tasks: 0,
    skipped: 0,
  };
  await using sluice = await Sluice.open({ durability: "memory", clock });
  const scheduler = await SearchScheduler.open({ sluice, clock, workers: WORKERS });
  for (let n = 0; n < searches; n++) {
    submitOne(scheduler, run, n);
    await clock.advance(BETWEEN_MS);
  }
  await clock.advance("6h");
  await scheduler.stop({ timeout: 0 });
  return run;
}

export const limitGroups: Group[] = [
  {
    name: "limits",
    async run(scale, report) {
      const searches = scale.size(SEARCHES);
      const run = await simulate(searches);
      const asked = [...run.requests.values()].reduce((sum, list) => sum + list.length, 0);
      const conditions = {
        searches,
        indexers: INDEXERS,
        tasks: run.tasks,
        requests: asked,
        skippedForTheirWait: run.skipped,
        workers: WORKERS,
        windows: "12 per 10 min, 60 per hour",
        baseInterval: "60 s",
        clock: "fake",
      };
      const exceeded = [...run.requests.values()].reduce((sum, list) => sum + violations(list), 0);
      report({
        metric: "limits exceeded",
        value: exceeded,
        unit: "times",
        conditions,
        target: { atMost: 0 },
      });
      for (const priority of PRIORITIES) {
        const value = percentileOf(run.waits[priority], 0.99) / 1_000;
        report({ metric: `${priority} wait, p99`, value, unit: "s", conditions });
      }
    },
  },
];

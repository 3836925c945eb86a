// Queues that live and die with their process, beside Sluice with durability `memory`: the same
// handlers, the same number side by side, each job awaited to its end.

import Bottleneck from "bottleneck";
import * as fastq from "fastq";
import PQueue from "p-queue";
import { type Queue, Sluice } from "sluice";
import type { Group, Scale } from "../../figure.ts";
import { measurementsOf } from "../compete.ts";
import { type Pace, paceOf, WINDOW_MS } from "../pace.ts";
import { packageVersion } from "../package-version.ts";
import { figuresOf, type Metric } from "../row.ts";
import { SLUICE } from "../systems.ts";
import { type Contest, type Entrant, type Sample, takeTurns } from "../turns.ts";

const CONCURRENCY = 100;
const JOBS = { quick: 20_000, usual: 100_000, full: 500_000 } as const;
const LIMIT_PER_SECOND = 1000;
const LIMIT_SECONDS = { quick: 3, usual: 5, full: 10 } as const;
// The finest that Bottleneck refills a reservoir by.
const REFILL_MS = 250;
const INTERVAL_MS = 100;
const BURST = 50;
const GATE = "shared";
// It spends a timer on each job.
const BOTTLENECK_DIVISOR = 50;
const STEP_MS_MAX = 600_000;

const WORK = `in one process, jobs are numbers, ${CONCURRENCY} handlers that return at once`;

type Handler = (job: number) => void;

// Runs all jobs and resolves when the last one has ended.
interface Runner extends AsyncDisposable {
  run(jobs: number, handler: Handler, isLimited: boolean): Promise<void>;
}

interface Peer {
  readonly name: string;
  readonly durability: string;
  // So many times fewer jobs, for one that takes long.
  readonly divisor?: number;
  open(): Promise<Runner>;
}

const limited = (what: string): string => `in process, a limit of 1,000/s: ${what}`;
const NO_RATES = { fastq: "it knows no rates" };
const METRICS: readonly Metric[] = [
  { key: "perSecond", row: "in process: add, run, end", unit: "jobs/s", better: "more" },
  {
    key: "share",
    row: limited("share of the limit that was used"),
    unit: "of the limit",
    better: "more",
    missing: NO_RATES,
    target: { atLeast: 0.99 },
  },
  {
    key: "over",
    row: limited(`most beyond it in any ${WINDOW_MS} ms`),
    unit: "jobs",
    better: "less",
    compare: "difference",
    missing: NO_RATES,
    target: { atMost: 0 },
  },
];

const IN_MEMORY = "none: gone with the process";

const PEERS: readonly Peer[] = [
  { name: SLUICE, durability: "memory", open: openSluice },
  { name: "p-queue", durability: IN_MEMORY, open: async () => ours(runPQueue) },
  { name: "fastq", durability: IN_MEMORY, open: async () => ours(runFastq) },
  {
    name: "Bottleneck",
    durability: IN_MEMORY,
    divisor: BOTTLENECK_DIVISOR,
    open: async () => ours(runBottleneck),
  },
];

export const inProcessGroup: Group = {
  name: "in-process",
  async run(scale, report, progress) {
    const entrants = PEERS.map((peer) => entrantOf(peer, scale));
    const outcomes = await takeTurns(entrants, {
      row: "in-process",
      runs: scale.runs,
      measurements: measurementsOf(scale),
      progress,
      stepMsMax: STEP_MS_MAX,
    });
    for (const metric of METRICS) {
      for (const figure of figuresOf(metric, outcomes)) report(figure);
    }
  },
};

function entrantOf({ name, durability, divisor = 1, open }: Peer, scale: Scale): Entrant {
  return {
    name,
    async open(): Promise<Contest> {
      const runner = await open();
      const version = packageVersion(name.toLowerCase());
      const jobs = JOBS[scale.name] / divisor;
      const run = async (): Promise<Sample> => {
        const perSecond = await timed(runner, jobs);
        const pace = await limitedPace(name, runner, LIMIT_SECONDS[scale.name]);
        if (pace === undefined) return { perSecond };
        const over = Math.max(0, pace.mostInWindow - LIMIT_PER_SECOND);
        return { perSecond, share: Math.min(1, pace.perSecond / LIMIT_PER_SECOND), over };
      };
      return {
        conditions: { durability, version, jobs, work: WORK },
        warmUp: async () => void (await timed(runner, jobs)),
        run,
        [Symbol.asyncDispose]: () => runner[Symbol.asyncDispose](),
      };
    },
  };
}

async function timed(runner: Runner, jobs: number): Promise<number> {
  const seen = new Uint8Array(jobs);
  const begun = performance.now();
  const handle = (job: number): void => {
    seen[job] = seen[job]! + 1;
  };
  await runner.run(jobs, handle, false);
  const perSecond = (jobs * 1000) / (performance.now() - begun);
  if (seen.some((times) => times !== 1)) throw new Error("a job did not run exactly once");
  return perSecond;
}

// fastq knows no rates.
async function limitedPace(
  name: string,
  runner: Runner,
  seconds: number,
): Promise<Pace | undefined> {
  if (name === "fastq") return undefined;
  const jobs = LIMIT_PER_SECOND * seconds;
  const times: number[] = [];
  const seen = new Set<number>();
  const handle = (job: number): void => {
    times.push(performance.now());
    seen.add(job);
  };
  await runner.run(jobs, handle, true);
  if (times.length !== jobs || seen.size !== jobs) {
    throw new Error("a limited job did not run exactly once");
  }
  return paceOf(times);
}

const indexes = (jobs: number): number[] => Array.from({ length: jobs }, (_, job) => job);

function ours(run: Runner["run"]): Runner {
  return { run, [Symbol.asyncDispose]: async () => undefined };
}

async function runPQueue(jobs: number, handler: Handler, isLimited: boolean): Promise<void> {
  const intervalCap = (LIMIT_PER_SECOND * INTERVAL_MS) / 1000;
  const limit = { intervalCap, interval: INTERVAL_MS, strict: true };
  const queue = new PQueue({ concurrency: CONCURRENCY, ...(isLimited ? limit : {}) });
  await Promise.all(indexes(jobs).map((job) => queue.add(async () => handler(job))));
}

async function runFastq(jobs: number, handler: Handler): Promise<void> {
  const queue = fastq.promise(async (job: number) => handler(job), CONCURRENCY);
  await Promise.all(indexes(jobs).map((job) => queue.push(job)));
}

async function runBottleneck(jobs: number, handler: Handler, isLimited: boolean): Promise<void> {
  const amount = (LIMIT_PER_SECOND * REFILL_MS) / 1000;
  const limit = {
    reservoir: amount,
    reservoirRefreshAmount: amount,
    reservoirRefreshInterval: REFILL_MS,
  };
  const limiter = new Bottleneck({ maxConcurrent: CONCURRENCY, ...(isLimited ? limit : {}) });
  await Promise.all(indexes(jobs).map((job) => limiter.schedule(async () => handler(job))));
  await limiter.disconnect();
}

async function openSluice(): Promise<Runner> {
  const sluice = await Sluice.open({ durability: "memory" });
  const windows = [{ limit: LIMIT_PER_SECOND, per: 1000 }];
  await sluice.gate(GATE).set({ rate: LIMIT_PER_SECOND, burst: BURST, windows });
  const queue = await sluice.queue<number>("jobs", { results: { jobs: 0 } });
  return {
    run: (jobs, handler, isLimited) => runSluice(queue, jobs, handler, isLimited),
    [Symbol.asyncDispose]: () => sluice.close(),
  };
}

async function runSluice(
  queue: Queue<number>,
  jobs: number,
  handler: Handler,
  isLimited: boolean,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const worker = queue.work(({ payload }) => handler(payload), { concurrency: CONCURRENCY });
  let left = jobs;
  worker.on("finished", () => {
    if (--left === 0) resolve();
  });
  worker.on("failed", ({ error }) => reject(error));
  const options = isLimited ? { gates: [GATE] } : {};
  await Promise.all(indexes(jobs).map((job) => queue.add(job, options)));
  await promise;
  await worker.close();
}

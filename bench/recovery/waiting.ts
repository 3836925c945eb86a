// A restart over many waiting jobs: how soon the first goes out, and what they take in memory and
// on disk. Each restart is a process of its own, as it is when one happens.

import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expectCount, grouped } from "../engine/load.ts";
import type { Figure, Group, Scale } from "../figure.ts";
import { Scratch } from "../scratch.ts";
import { repeat, rounded, spreadConditions, spreadOf } from "../spread.ts";
import { type Filled, fill } from "./fill.ts";
import { logFilesOf, megabytes } from "./log-files.ts";

const PROGRAM = join(import.meta.dirname, "restart.ts");
const QUEUE = "jobs";
const PAYLOAD_BYTES = 512;
// Where the disk has no room for the jobs twice over.
const PAYLOAD_BYTES_SMALL = 64;
const OVERHEAD_BYTES = 100;
const SECONDS_MAX = 3;

// What a new process tells of its start.
export interface Restart {
  readonly openMs: number;
  readonly firstMs: number;
  readonly jobs: number;
  readonly rssBytes: number;
  readonly peakRssBytes: number;
}

const CASES = [
  { name: "1m", jobs: 1_000_000, target: { target: { atMost: SECONDS_MAX } } },
  { name: "10m", jobs: 10_000_000, target: {} },
] as const;

export const waitingGroups: readonly Group[] = CASES.map(({ name, jobs, target }) => ({
  name: `waiting-${name}`,
  run: async (scale) => {
    const [first, ...others] = await measure(scale, scale.size(jobs));
    return [{ ...first!, ...target }, ...others];
  },
}));

async function measure(scale: Scale, jobs: number): Promise<Figure[]> {
  using scratch = new Scratch();
  const dir = scratch.fresh();
  const needBytes = 2 * jobs * (PAYLOAD_BYTES + OVERHEAD_BYTES);
  const payloadBytes = scratch.freeBytes > needBytes ? PAYLOAD_BYTES : PAYLOAD_BYTES_SMALL;
  const filled = await fill({ dir, queue: QUEUE, jobs, payloadBytes });
  const { diskBytes } = logFilesOf(dir);
  const restarts = await repeat(scale.runs, () => restart(dir));
  for (const { jobs: found } of restarts) expectCount("jobs found", found, jobs);
  const conditions = { jobs, payloadBytes, durability: "fsync", disk: scratch.disk };
  return figuresOf(restarts, filled, diskBytes, conditions);
}

function figuresOf(
  restarts: readonly Restart[],
  filled: Filled,
  diskBytes: number,
  conditions: { jobs: number; payloadBytes: number; durability: string; disk: string },
): Figure[] {
  const { jobs, payloadBytes } = conditions;
  const name = `${grouped(jobs)} waiting jobs`;
  const first = spreadOf(restarts.map(({ firstMs }) => firstMs / 1000));
  const rss = spreadOf(restarts.map(({ rssBytes }) => rssBytes));
  const opened = spreadOf(restarts.map(({ openMs }) => openMs / 1000));
  const peak = megabytes(Math.max(...restarts.map(({ peakRssBytes }) => peakRssBytes)));
  const runs = restarts.length;
  const memory = { payloadMemory: "default, 256 MiB", payloadsMb: megabytes(jobs * payloadBytes) };
  const figure = (metric: string, value: number, unit: string, own: object): Figure => {
    return { metric, value, unit, conditions: { ...conditions, ...own } };
  };
  return [
    figure(`${name}: from Sluice.open to the first handler`, rounded(first.median), "s", {
      clock: "a new process each, without its start; files in the page cache; clean close before",
      openSeconds: rounded(opened.median),
      runs,
      ...spreadConditions(first),
    }),
    figure(`${name}: resident memory after the restart`, megabytes(rss.median), "MB", {
      ...memory,
      bytesPerJob: rounded(rss.median / jobs),
      peakMb: peak,
      runs,
      min: megabytes(rss.min),
      max: megabytes(rss.max),
    }),
    figure(`${name}: resident memory of who added them`, megabytes(filled.rssBytes), "MB", {
      ...memory,
      addedPerSecond: rounded((jobs * 1000) / filled.ms),
    }),
    figure(`${name}: disk`, megabytes(diskBytes), "MB", {
      bytesPerJob: rounded(diskBytes / jobs),
    }),
  ];
}

async function restart(dir: string): Promise<Restart> {
  const stdio = ["ignore", 2, 2, "ipc"] as const;
  const child = fork(PROGRAM, [dir, QUEUE], { execArgv: ["--expose-gc"], stdio: [...stdio] });
  let told: Restart | undefined;
  child.on("message", (message) => {
    told = message as Restart;
  });
  const [code, signal] = await once(child, "exit");
  if (told === undefined) throw new Error(`a restart ended with ${signal ?? code}`);
  return told;
}

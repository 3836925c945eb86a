// A long steady load beside jobs that wait: the log has to be cleaned all the time. Once those that
// wait are in the worker's queue, where they turn over. Once they are in a queue without a worker:
// always the oldest part of the log, they never go by themselves and have to be carried along.

import { monitorEventLoopDelay } from "node:perf_hooks";
import { BATCH_JOBS, BULKS_IN_FLIGHT, EmbeddedLoad } from "../embedded/load.ts";
import { grouped } from "../engine/load.ts";
import type { Figure, Group, Scale } from "../figure.ts";
import { Scratch } from "../scratch.ts";
import { rounded, spreadOf } from "../spread.ts";
import { fill } from "./fill.ts";
import { logFilesOf, megabytes } from "./log-files.ts";

const WRITTEN_BYTES = 20e9;
const BACKLOG_JOBS = 200_000;
const PAYLOAD_BYTES = 512;
const ROUND_JOBS = 50_000;
const SEGMENT_BYTES = 64 * 1024 * 1024;
const LOOK_EVERY_MS = 100;
// The collector takes and gives as it likes: what grows without end is beyond this soon.
const FLAT_FACTOR = 1.1;

// A log that is this far beyond its bound will not come back, and must not fill the disk.
const HOPELESS_SHARE = 10;

const CASES = [
  { name: "turning", where: "in the queue of the worker, whose handlers hold some of it" },
  { name: "standing", where: "in a queue without a worker" },
] as const;

type Case = (typeof CASES)[number];

interface Sample {
  readonly diskBytes: number;
  readonly boundBytes: number;
  readonly writtenBytes: number;
  readonly rssBytes: number;
}

interface Steady {
  readonly samples: readonly Sample[];
  readonly jobs: number;
  readonly seconds: number;
  readonly cpuMicros: number;
  readonly longestDelayMs: number;
}

export const steadyGroups: readonly Group[] = CASES.map((each) => ({
  name: `steady-${each.name}`,
  run: (scale) => measure(scale, each),
}));

async function measure(scale: Scale, { name, where }: Case): Promise<Figure[]> {
  using scratch = new Scratch();
  const filled = scratch.fresh();
  const backlog = scale.size(BACKLOG_JOBS);
  await fill({ dir: filled, queue: "standing", jobs: backlog, payloadBytes: PAYLOAD_BYTES });
  const bytesPerJob = logFilesOf(filled).diskBytes / backlog;
  const isTurning = name === "turning";
  const dir = isTurning ? scratch.fresh() : filled;
  const own = isTurning ? { backlog } : {};
  await using load = await EmbeddedLoad.open({ durability: "fsync", dir, ...own });
  const besides = isTurning ? 0 : backlog;
  const liveBytes = async (): Promise<number> => (besides + (await load.live())) * bytesPerJob;
  const steady = await runSteadily(load, dir, scale.size(WRITTEN_BYTES), liveBytes);
  const conditions = {
    durability: "fsync",
    disk: scratch.disk,
    backlogJobs: backlog,
    backlog: where,
    payloadBytes: PAYLOAD_BYTES,
    added: `addBulk of ${BATCH_JOBS}, ${BULKS_IN_FLIGHT} in flight; 10 lanes, one gate`,
    writtenMb: megabytes(writtenBy(steady)),
    segmentMb: megabytes(SEGMENT_BYTES),
    liveBytesPerJob: rounded(bytesPerJob),
    looks: `${steady.samples.length}, every ${LOOK_EVERY_MS} ms`,
  };
  return figuresOf(steady, `beside ${grouped(backlog)} ${name} jobs`, conditions);
}

async function runSteadily(
  load: EmbeddedLoad,
  dir: string,
  bytes: number,
  liveBytes: () => Promise<number>,
): Promise<Steady> {
  const samples: Sample[] = [];
  const look = async (): Promise<void> => {
    const boundBytes = 2 * (await liveBytes()) + SEGMENT_BYTES;
    samples.push({ ...logFilesOf(dir), boundBytes, rssBytes: process.memoryUsage.rss() });
  };
  const delays = monitorEventLoopDelay({ resolution: 1 });
  const cpu = process.cpuUsage();
  const from = performance.now();
  await look();
  delays.enable();
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  let jobs = 0;
  let seconds = 0;
  while (writtenBy({ samples }) < bytes && shareOf(samples.at(-1)!) < HOPELESS_SHARE) {
    await load.bulk(ROUND_JOBS);
    await look();
    jobs += ROUND_JOBS;
    seconds = (performance.now() - from) / 1000;
  }
  clearInterval(timer);
  delays.disable();
  const { user, system } = process.cpuUsage(cpu);
  const longestDelayMs = delays.max / 1e6;
  return { samples, jobs, seconds, cpuMicros: user + system, longestDelayMs };
}

function writtenBy({ samples }: Pick<Steady, "samples">): number {
  return samples.at(-1)!.writtenBytes - samples[0]!.writtenBytes;
}

function figuresOf(steady: Steady, name: string, conditions: Figure["conditions"]): Figure[] {
  const { samples, jobs, seconds, cpuMicros, longestDelayMs } = steady;
  const worst = samples.reduce((a, b) => (shareOf(b) > shareOf(a) ? b : a));
  const beginRss = middleOf(samples, 0.1, 0.2);
  const endRss = middleOf(samples, 0.9, 1);
  const isHopeless = shareOf(worst) >= HOPELESS_SHARE;
  const figure = (metric: string, value: number, unit: string, own: object): Figure => {
    const early = isHopeless ? { stopped: `early, at ${HOPELESS_SHARE} × the bound` } : {};
    const all = { ...conditions, ...early, ...own };
    return { metric: `${metric} ${name}`, value: rounded(value), unit, conditions: all };
  };
  const perJob = rounded(writtenBy(steady) / jobs);
  const disk = {
    diskMb: megabytes(worst.diskBytes),
    boundMb: megabytes(worst.boundBytes),
    largestMb: megabytes(Math.max(...samples.map(({ diskBytes }) => diskBytes))),
  };
  const memory = { beginMb: megabytes(beginRss), endMb: megabytes(endRss) };
  const speed = {
    jobs,
    seconds: rounded(seconds),
    writtenBytesPerJob: perJob,
    cpuMicrosPerJob: rounded(cpuMicros / jobs),
    longestDelayMs: rounded(longestDelayMs),
  };
  return [
    figure("add + work + ack", jobs / seconds, "jobs/s", speed),
    {
      ...figure("largest disk ÷ (2 × live data + one segment)", shareOf(worst), "×", disk),
      target: { atMost: 1 },
    },
    {
      ...figure("memory at the end ÷ at the beginning", endRss / beginRss, "×", memory),
      target: { atMost: FLAT_FACTOR },
    },
  ];
}

function shareOf({ diskBytes, boundBytes }: Sample): number {
  return diskBytes / boundBytes;
}

// The median of a part of the samples, by their place in the run.
function middleOf(samples: readonly Sample[], from: number, to: number): number {
  const part = samples.slice(samples.length * from, samples.length * to);
  return spreadOf(part.map(({ rssBytes }) => rssBytes)).median;
}

// Handlers that do nothing, in threads and in the server's own thread, in turns: how many jobs a
// second, and what a job costs. Jobs are added without HTTP.

import { fileURLToPath } from "node:url";
import { createJobServer, keepPausesShort, readConfig } from "@sluice/jobserver";
import type { Group, Report, Scale } from "../figure.ts";
import { Scratch } from "../scratch.ts";
import { figureOf } from "../spread.ts";
import handlers from "./handlers.ts";

const JOBS = 50_000;
const IN_FLIGHT = 500;
const MODULE = fileURLToPath(new URL("handlers.ts", import.meta.url));

interface Speed {
  readonly perSecond: number;
  readonly cpuMicros: number;
  // Of the thread that serves everybody: what bounds a server with cores to spare.
  readonly threadMicros: number;
}

async function speedOf(dir: string, where: string | typeof handlers, jobs: number): Promise<Speed> {
  const sizes = { FAST_QUEUE_SIZE: "1000000", SLOW_QUEUE_SIZE: "1000000" };
  const quiet = { LISTEN_ADDRESS: "127.0.0.1:0", LOG_LEVEL: "silent", MAX_JOBS: "10" };
  const config = readConfig({ DATA_DIR: dir, PRIORITY_SUBMITTER_SHARE: "0", ...sizes, ...quiet });
  const running = await createJobServer({ config, handlers: where });
  const addMany = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left -= IN_FLIGHT) {
      const adds = Array.from({ length: Math.min(left, IN_FLIGHT) }, () =>
        running.server.add({ type: "nothing" }),
      );
      await Promise.all(adds);
    }
    await running.server.result(
      (await running.server.add({ type: "nothing" })).uid,
      AbortSignal.timeout(600_000),
    );
  };
  try {
    await addMany(jobs / 5);
    const from = performance.now();
    const before = process.cpuUsage();
    const ofThread = process.threadCpuUsage();
    await addMany(jobs);
    const seconds = (performance.now() - from) / 1000;
    const thread = process.threadCpuUsage(ofThread);
    const { user, system } = process.cpuUsage(before);
    return {
      perSecond: jobs / seconds,
      cpuMicros: (user + system) / jobs,
      threadMicros: (thread.user + thread.system) / jobs,
    };
  } finally {
    await running.close();
  }
}

async function measure(scale: Scale, report: Report): Promise<void> {
  // As the command does.
  keepPausesShort();
  using scratch = new Scratch();
  const jobs = scale.size(JOBS);
  const inServer: Speed[] = [];
  const inThreads: Speed[] = [];
  for (let run = 0; run < scale.runs; run++) {
    inServer.push(await speedOf(scratch.fresh(), handlers, jobs));
    inThreads.push(await speedOf(scratch.fresh(), MODULE, jobs));
  }
  const conditions = { durability: "fsync", disk: scratch.disk, jobs, workers: 10, http: false };
  const speeds = { "the server's thread": inServer, threads: inThreads };
  for (const [where, runs] of Object.entries(speeds)) {
    const perSecond = runs.map((run) => run.perSecond);
    const micros = runs.map((run) => run.cpuMicros);
    const own = runs.map((run) => run.threadMicros);
    report(figureOf(`small handlers in ${where}`, "jobs/s", perSecond, conditions));
    report(figureOf(`in ${where}: processor time`, "µs per job", micros, conditions));
    report(figureOf(`in ${where}: of the server's thread`, "µs per job", own, conditions));
  }
  const ratios = inThreads.map((run, i) => run.perSecond / inServer[i]!.perSecond);
  const ratio = figureOf("small handlers, threads ÷ server's thread", "×", ratios, conditions);
  report({ ...ratio, target: { atLeast: 0.8 } });
}

export const smallGroups: Group[] = [{ name: "small-handlers", run: measure }];

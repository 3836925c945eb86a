// 10,000 submissions a second of 200 submitters, over HTTP, from another process. An answer means
// that the job is durable.

import type { Group, Report, Scale } from "../figure.ts";
import { percentileOf } from "../percentile.ts";
import { Scratch } from "../scratch.ts";
import { figureOf, repeat } from "../spread.ts";
import { type Load, load, RATE, SUBMITTERS } from "./load.ts";
import { PREFERRED, startServer, WORKERS } from "./server.ts";

const SECONDS = 10;

type Run = Load & { readonly waits: Record<"preferred" | "other", readonly number[]> };

async function measure(scale: Scale, report: Report): Promise<void> {
  using scratch = new Scratch();
  const server = await startServer(scratch.fresh());
  const run = async (seconds: number): Promise<Run> => {
    const loaded = await load(server.address, seconds);
    await server.drained();
    return { ...loaded, waits: server.waits() };
  };
  try {
    const seconds = Math.max(1, scale.size(SECONDS));
    await run(1);
    tell(await repeat(scale.runs, () => run(seconds)), seconds, scratch, report);
  } finally {
    await server.stop();
  }
}

function tell(runs: readonly Run[], seconds: number, { disk }: Scratch, report: Report): void {
  const conditions = {
    durability: "fsync",
    disk,
    offeredPerSecond: RATE,
    submitters: SUBMITTERS,
    preferred: PREFERRED,
    workers: WORKERS,
    handlers: "threads",
    secondsPerRun: seconds,
  };
  const figure = (metric: string, unit: string, read: (run: Run) => number): void =>
    report(figureOf(metric, unit, runs.map(read), conditions));
  figure("submissions answered with an id", "per second", (run) => {
    return (run.answerMs.length - run.refused) / run.seconds;
  });
  figure("submissions refused", "jobs", ({ refused }) => refused);
  figure("answer, p50", "ms", ({ answerMs }) => percentileOf(answerMs, 0.5));
  figure("answer, p99", "ms", ({ answerMs }) => percentileOf(answerMs, 0.99));
  figure("sent after it was due, p99", "ms", ({ lateMs }) => percentileOf(lateMs, 0.99));
  for (const group of ["preferred", "other"] as const) {
    const waitsOf = ({ waits }: Run): readonly number[] => waits[group];
    const name = `submission → handler, ${group}`;
    figure(`${name}, p50`, "ms", (run) => percentileOf(waitsOf(run), 0.5));
    figure(`${name}, p99`, "ms", (run) => percentileOf(waitsOf(run), 0.99));
  }
}

export const submissionGroups: Group[] = [{ name: "submissions", run: measure }];

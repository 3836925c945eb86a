// The latency of a lone job: the next is added when the ack of the one before is durable. In turns
// with a bare sync of a file that grows the same way, for that is what the target counts from.

import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { Durability } from "sluice";
import type { Figure, Group, Report, Scale } from "../figure.ts";
import { percentileOf } from "../percentile.ts";
import { Scratch } from "../scratch.ts";
import { figureOf, repeat, rounded, spreadOf } from "../spread.ts";
import { PAYLOAD_BYTES } from "./jobs.ts";
import { EmbeddedLoad } from "./load.ts";
import { numbered } from "./open-loop.ts";
import { DURABILITIES, loadConditions, place } from "./throughput.ts";

const JOBS_PER_RUN = 2000;
const ABOVE_SYNC_MS = 0.5;
const OS_MS_MAX = 0.3;
// A job's facts beside its payload.
const FACTS_BYTES = 100;

interface Run {
  readonly handlerMs: Float64Array;
  readonly syncMs: Float64Array;
}

export const oneAtATimeGroups: readonly Group[] = DURABILITIES.map((durability) => ({
  name: `one-at-a-time-${durability}`,
  run: (scale, report) => measure(scale, durability, report),
}));

async function measure(scale: Scale, durability: Durability, report: Report): Promise<void> {
  using scratch = new Scratch();
  await using load = await EmbeddedLoad.open({ durability, ...place(scratch, durability) });
  await using file = await open(join(scratch.dir, "bare"), "a");
  const jobsPerRun = scale.size(JOBS_PER_RUN);
  const side = durability === "fsync" ? file : undefined;
  await run(load, side, jobsPerRun);
  const runs = await repeat(scale.runs, () => run(load, side, jobsPerRun));
  const shared = { ...loadConditions(scratch, durability, load), jobsPerRun };
  const figure = (metric: string, clock: string, values: readonly number[]): Figure =>
    figureOf(metric, "ms", values, { ...shared, clock });
  const bare = runs.map(({ syncMs }) => percentileOf(syncMs, 0.5));
  const syncClock = "fdatasync alone, after as many bytes were appended to a file beside the log";
  if (side !== undefined) report(figure("a bare fdatasync, p50", syncClock, bare));
  const clock = "from the call of add to the handler's begin; the next when the ack is durable";
  for (const share of [0.5, 0.99]) {
    const values = runs.map(({ handlerMs }) => percentileOf(handlerMs, share));
    const metric = `add → handler, one at a time, ${durability}, p${share * 100}`;
    const target = share === 0.5 ? targetOf(durability, spreadOf(bare).median) : {};
    report({ ...figure(metric, clock, values), ...target });
  }
}

function targetOf(durability: Durability, syncMs: number): Pick<Figure, "target"> {
  if (durability === "memory") return {};
  const atMost = durability === "os" ? OS_MS_MAX : rounded(syncMs + ABOVE_SYNC_MS);
  return { target: { atMost } };
}

async function run(load: EmbeddedLoad, file: FileHandle | undefined, jobs: number): Promise<Run> {
  const handlerMs = new Float64Array(jobs);
  const syncMs = new Float64Array(jobs);
  const facts = Buffer.alloc(PAYLOAD_BYTES + FACTS_BYTES, 1);
  let from = 0;
  load.onHandled = (payload) => {
    handlerMs[(payload as Buffer).readUInt32LE(0)] = performance.now() - from;
  };
  for (let i = 0; i < jobs; i++) {
    const finished = load.finished(1);
    const payload = numbered(i);
    from = performance.now();
    await Promise.all([load.add(payload), finished]);
    if (file !== undefined) syncMs[i] = await bareSync(file, facts);
  }
  load.onHandled = () => {};
  return { handlerMs, syncMs };
}

async function bareSync(file: FileHandle, bytes: Buffer): Promise<number> {
  await file.write(bytes);
  // The write is not counted: the target allows for one sync, and the rest is ours.
  const from = performance.now();
  await file.datasync();
  return performance.now() - from;
}

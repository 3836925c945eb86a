// The same load without and with handlers that compute, in turns within one run: what a computing
// handler costs those who submit, and whether the server answers its probes. At 10,000 submissions
// a second, and at half of what server and sender together can do on this machine: where they need
// both cores, the first shows the machine's end and not what a handler costs. The processor time
// says which it is.

import { availableParallelism } from "node:os";
import type { Group, Report, Scale } from "../figure.ts";
import { percentileOf } from "../percentile.ts";
import { Scratch } from "../scratch.ts";
import { figureOf, rounded } from "../spread.ts";
import { type Load, load, RATE } from "./load.ts";
import { type Server, startServer } from "./server.ts";

const COMPUTE_MS = 5_000;
const SECONDS = COMPUTE_MS / 1_000;

// A load, and what of a core it took meanwhile.
interface Measured extends Load {
  readonly threadShare: number;
  readonly serverShare: number;
  readonly senderShare: number;
}

interface Pair {
  readonly alone: Measured;
  readonly beside: Measured;
}

async function measured(server: Server, rate: number, seconds = SECONDS): Promise<Measured> {
  const before = server.cpu();
  const own = process.cpuUsage();
  const loaded = await load(server.address, seconds, rate);
  const { user, system } = process.cpuUsage(own);
  const after = server.cpu();
  return {
    ...loaded,
    threadShare: (after.thread - before.thread) / loaded.seconds,
    serverShare: (after.process - before.process) / loaded.seconds,
    senderShare: (user + system) / 1e6 / loaded.seconds,
  };
}

async function pairs(server: Server, rate: number, runs: number, count: number): Promise<Pair[]> {
  const found: Pair[] = [];
  for (let run = 0; run < runs; run++) {
    const alone = await measured(server, rate);
    await server.drained();
    for (let i = 0; i < count; i++) await server.spin(COMPUTE_MS);
    const beside = await measured(server, rate);
    await server.drained();
    found.push({ alone, beside });
  }
  return found;
}

// Half of what was answered when more was offered than can be; at most what is asked for anyway.
async function halfOfAll(server: Server, report: Report): Promise<number> {
  const { answerMs, seconds } = await measured(server, 2 * RATE, 2);
  await server.drained();
  const all = answerMs.length / seconds;
  const conditions = { offeredPerSecond: 2 * RATE, cores: availableParallelism() };
  report(figureOf("submissions at most, server and sender here", "per second", [all], conditions));
  return Math.min(RATE, Math.round(all / 2 / 100) * 100);
}

const p99 = (list: readonly number[]): number => percentileOf(list, 0.99);

interface Setting {
  readonly count: number;
  readonly isolation: "thread" | "process";
}

async function measure(scale: Scale, report: Report, setting: Setting): Promise<void> {
  using scratch = new Scratch();
  const server = await startServer(scratch.fresh(), { JOB_ISOLATION: setting.isolation });
  try {
    await load(server.address, 1);
    await server.drained();
    const half = await halfOfAll(server, report);
    for (const rate of new Set([half, RATE])) {
      const runs = await pairs(server, rate, Math.min(scale.runs, RUNS_MAX), setting.count);
      tell(runs, rate, scratch, setting, report);
    }
  } finally {
    await server.stop();
  }
}

// Each takes 12 s.
const RUNS_MAX = 3;

function tell(
  runs: readonly Pair[],
  rate: number,
  { disk }: Scratch,
  { count, isolation }: Setting,
  report: Report,
): void {
  const fixed = { durability: "fsync", disk, offeredPerSecond: rate, computing: count };
  const conditions = { ...fixed, isolation, nice: 10, computeMs: COMPUTE_MS };
  const isJudged = count === 1;
  const beside = `beside ${count} that compute${isJudged ? "s" : ""}`;
  const figure = (metric: string, unit: string, read: (pair: Pair) => number, atMost?: number) => {
    const name = `${metric}, ${isolation}, ${rate}/s`;
    const told = figureOf(name, unit, runs.map(read), conditions);
    report(atMost === undefined || !isJudged ? told : { ...told, target: { atMost } });
  };
  figure("answer, p99, alone", "ms", ({ alone }) => p99(alone.answerMs));
  figure(`answer, p99, ${beside}`, "ms", (pair) => p99(pair.beside.answerMs));
  const ratio = (pair: Pair): number => p99(pair.beside.answerMs) / p99(pair.alone.answerMs);
  figure(`answer, p99, ${beside} ÷ alone`, "×", ratio, 2);
  figure("/healthz, p99, alone", "ms", ({ alone }) => p99(alone.healthMs));
  figure(`/healthz, p99, ${beside}`, "ms", (pair) => p99(pair.beside.healthMs), 20);
  for (const [when, read] of [
    ["alone", (pair: Pair) => pair.alone],
    [beside, (pair: Pair) => pair.beside],
  ] as const) {
    const share = (name: string, of: (one: Measured) => number): void =>
      figure(`processor: ${name}, ${when}`, "cores", (pair) => rounded(of(read(pair))));
    share("the thread that answers", ({ threadShare }) => threadShare);
    share("the server with its handlers", ({ serverShare }) => serverShare);
    share("the sender", ({ senderShare }) => senderShare);
  }
}

export const computingGroups: Group[] = [
  {
    name: "computing",
    run: (scale, report) => measure(scale, report, { count: 1, isolation: "thread" }),
  },
  {
    name: "computing-processes",
    run: (scale, report) => measure(scale, report, { count: 4, isolation: "process" }),
  },
];

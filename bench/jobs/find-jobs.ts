// A million jobs over 50 queues, the match planted last: what a job takes, and how long each kind
// of search takes. Payloads are on a disk alone: what the process grows by is all of a job.

import { type LocalBroker, openBroker } from "@sluice/broker";
import { openLog } from "@sluice/log";
import type { FindOptions } from "@sluice/protocol";
import type { Figure, Group, Report } from "../figure.ts";
import { LongestTurn } from "../longest-turn.ts";
import { Scratch } from "../scratch.ts";
import { settledMemory } from "../settled-memory.ts";
import { rounded } from "../spread.ts";

const JOBS = 1_000_000;
const QUEUES = 50;
const BATCH = 10_000;
const MS_MAX = 100;
const SCAN_MS_MAX = 30_000;
const LOOP_MS_MAX = 50;
const JOB_BYTES_MAX = 140;
const source = "the broker itself, payloads on a disk";

export const findJobs: Group = {
  name: "find",
  async run(scale, report) {
    const jobs = scale.size(JOBS);
    using scratch = new Scratch();
    await warmUp(scratch, jobs);
    const before = settledMemory().rss;
    const broker = await open(scratch);
    await fill(broker, jobs);
    report(memoryFigure(jobs, settledMemory().rss - before));
    const planted = await plant(broker);
    const since = (await broker.job(planted)).addedAt;
    const searches: Readonly<Record<string, FindOptions>> = {
      id: { ids: [planted] },
      state: { states: ["dead"] },
      time: { since },
      key: { lane: "one" },
      error: { error: "planted" },
      queue: { queues: ["last*"] },
    };
    for (const [name, options] of Object.entries(searches)) {
      await measure(report, `find by ${name}`, jobs, MS_MAX, async () => {
        const { items } = await broker.findJobs(options);
        if (!items.some(({ id }) => id === planted)) throw new Error(`${name}: not found`);
      });
    }
    await measure(report, "failures by error", jobs, MS_MAX, async () => {
      if ((await broker.failures()).total !== 1) throw new Error("failures: not found");
    });
    await measure(report, "find by text", jobs, SCAN_MS_MAX, () => scan(broker, planted));
    await broker.close();
  },
};

/** Compiled code and the young generation take their room before the first look at the memory. */
async function warmUp(scratch: Scratch, jobs: number): Promise<void> {
  const broker = await open(scratch);
  await fill(broker, jobs);
  await broker.close();
}

async function open(scratch: Scratch): Promise<LocalBroker> {
  const log = await openLog({ dir: scratch.fresh(), durability: "os" });
  return openBroker({ log, payloadMemoryBytes: 1 });
}

function memoryFigure(jobs: number, bytes: number): Figure {
  return {
    ...{ metric: "memory of a waiting job, in all", unit: "B", target: { atMost: JOB_BYTES_MAX } },
    value: rounded(bytes / jobs),
    conditions: { jobs, queues: QUEUES, source: "growth of RSS after gc, payloads on a disk" },
  };
}

async function fill(broker: LocalBroker, jobs: number): Promise<void> {
  const payload = Buffer.from(JSON.stringify({ text: "x".repeat(60) }));
  const batch = new Array(Math.min(BATCH, jobs / QUEUES)).fill({ payload, fairnessKey: "many" });
  for (let queue = 0; queue < QUEUES; queue++) {
    await broker.setQueue(`q${queue}`, {});
    for (let i = 0; i < jobs / QUEUES; i += batch.length) await broker.add(`q${queue}`, batch);
  }
}

async function plant(broker: LocalBroker): Promise<string> {
  await broker.setQueue("last", { retry: { attempts: 1 } });
  await broker.add("last", [{ payload: Buffer.from("a needle"), fairnessKey: "one" }]);
  const [job] = await broker.lease("last", { max: 1 });
  await broker.nack([{ lease: job!.lease, error: "planted 1" }]);
  return job!.id;
}

async function scan(broker: LocalBroker, planted: string): Promise<void> {
  let cursor: string | undefined;
  do {
    const from = cursor === undefined ? {} : { cursor };
    const page = await broker.findJobs({ text: "needle", ...from });
    if (page.items[0]?.id === planted) return;
    ({ cursor } = page);
  } while (cursor !== undefined);
  throw new Error("text: not found");
}

async function measure(
  report: Report,
  metric: string,
  jobs: number,
  atMost: number,
  search: () => Promise<void>,
): Promise<void> {
  await search();
  const begun = performance.now();
  await search();
  const tookMs = performance.now() - begun;
  // Watching the turns takes time of its own.
  const turns = new LongestTurn();
  await search();
  const { stallMs, busyMs } = await turns.end();
  const conditions = { jobs, queues: QUEUES, source };
  report({ metric, value: rounded(tookMs), unit: "ms", target: { atMost }, conditions });
  report({
    ...{ metric: `${metric}: longest turn`, value: rounded(stallMs), unit: "ms" },
    target: { atMost: LOOP_MS_MAX },
    conditions: { ...conditions, processorMs: rounded(busyMs) },
  });
}

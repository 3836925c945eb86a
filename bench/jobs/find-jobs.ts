// A million jobs over 50 queues, the match planted last: how long each kind of search takes.

import { monitorEventLoopDelay } from "node:perf_hooks";
import { type LocalBroker, openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import type { FindOptions } from "@sluice/protocol";
import type { Group, Report } from "../figure.ts";
import { rounded } from "../spread.ts";

const JOBS = 1_000_000;
const QUEUES = 50;
const BATCH = 10_000;
const MS_MAX = 100;
const SCAN_MS_MAX = 30_000;
const LOOP_MS_MAX = 50;

export const findJobs: Group = {
  name: "find",
  async run(scale, report) {
    const jobs = scale.size(JOBS);
    const broker = await openBroker({ log: new MemoryLog(), reserve: true });
    const planted = await fill(broker, jobs);
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

async function fill(broker: LocalBroker, jobs: number): Promise<string> {
  const payload = Buffer.from(JSON.stringify({ text: "x".repeat(60) }));
  const batch = new Array(Math.min(BATCH, jobs / QUEUES)).fill({ payload, fairnessKey: "many" });
  for (let queue = 0; queue < QUEUES; queue++) {
    await broker.setQueue(`q${queue}`, {});
    for (let i = 0; i < jobs / QUEUES; i += batch.length) await broker.add(`q${queue}`, batch);
  }
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
  const loop = monitorEventLoopDelay({ resolution: 1 });
  await search();
  loop.enable();
  const begun = performance.now();
  await search();
  const tookMs = performance.now() - begun;
  loop.disable();
  const conditions = { jobs, queues: QUEUES, source: "the broker itself, memory log" };
  report({ metric, value: rounded(tookMs), unit: "ms", target: { atMost }, conditions });
  const turn = { metric: `${metric}: longest turn`, value: rounded(loop.max / 1e6), unit: "ms" };
  report({ ...turn, target: { atMost: LOOP_MS_MAX }, conditions });
}

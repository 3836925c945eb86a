// One job waits for a hundred thousand others and reads all of their results. The whole library in
// one process, on a disk: the flow is opened, filled, sealed and run.

import { Sluice } from "sluice";
import type { Figure, Group, Scale } from "../figure.ts";
import { LongestTurn } from "../longest-turn.ts";
import { Scratch } from "../scratch.ts";
import { rounded } from "../spread.ts";

const CHILDREN = 100_000;
const BATCH = 10_000;
const STALL_MS_MAX = 50;

export const fanIn: Group = { name: "fan-in", run: measure };

async function measure(scale: Scale): Promise<Figure[]> {
  using scratch = new Scratch();
  const children = scale.size(CHILDREN);
  await using sluice = await Sluice.open({ dir: scratch.fresh() });
  const parts = await sluice.queue<{ n: number }, { square: number }>("parts");
  const sums = await sluice.queue<null, { count: number; sum: number }>("sums");
  const cpu = process.cpuUsage();
  const turns = new LongestTurn();
  const from = performance.now();
  const flow = await sluice.openFlow("parts");
  const after = [];
  for (let i = 0; i < children; i += BATCH) {
    const items = Array.from({ length: Math.min(BATCH, children - i) }, (_, n) => ({
      queue: "parts",
      payload: { n: i + n },
    }));
    after.push(...(await flow.add(items)));
  }
  const [sum] = await flow.add([{ queue: "sums", payload: null, after }]);
  await flow.seal();
  const filledMs = performance.now() - from;
  parts.work(({ payload: { n } }) => ({ square: n * n }), { concurrency: 1000 });
  let readMs = 0;
  sums.work(async (job) => {
    const begun = performance.now();
    let count = 0;
    let total = 0;
    for await (const { result } of job.dependencies<{ square: number }>()) {
      count++;
      total += result!.square;
    }
    readMs = performance.now() - begun;
    return { count, sum: total };
  });
  const answer = await sluice.job<null, { count: number }>(sum!.id).finished();
  const allMs = performance.now() - from;
  const { stallMs, busyMs } = await turns.end();
  if (answer.count !== children) throw new Error(`${answer.count} results of ${children}`);
  const { user, system } = process.cpuUsage(cpu);
  const conditions = { children, durability: "fsync", disk: scratch.disk, inProcess: true };
  return [
    {
      metric: "a fan-in with results, added, run and read",
      value: rounded((children / allMs) * 1000),
      unit: "jobs/s",
      conditions: {
        ...conditions,
        filledMs: rounded(filledMs),
        readMs: rounded(readMs),
        cpuUsPerJob: rounded((user + system) / children),
      },
    },
    {
      metric: "longest time between two turns of the loop in a fan-in",
      value: rounded(stallMs),
      unit: "ms",
      conditions,
      target: { atMost: STALL_MS_MAX },
    },
    {
      metric: "longest processor time of one turn of the loop in a fan-in",
      value: rounded(busyMs),
      unit: "ms",
      conditions,
    },
  ];
}

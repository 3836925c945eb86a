// A retry of many dead jobs by a filter, and how long adds take beside it and alone.

import { openBroker } from "@sluice/broker";
import { openLog } from "@sluice/log";
import type { Broker } from "@sluice/protocol";
import type { Group } from "../figure.ts";
import { Scratch } from "../scratch.ts";
import { rounded } from "../spread.ts";

const DEAD = 100_000;
const BATCH = 5000;
const ADDS = 1000;
const payload = Buffer.from("{}");

export const bulkRetry: Group = {
  name: "bulk-retry",
  async run(scale, report) {
    const dead = scale.size(DEAD);
    using scratch = new Scratch();
    const log = await openLog({ dir: scratch.dir });
    const broker = await openBroker({ log, reserve: true });
    await bury(broker, dead);
    await broker.setQueue("other", {});
    await addsP99(broker, () => false);
    const alone = await addsP99(broker, () => false);
    const begun = performance.now();
    const { id } = await broker.startBulk("retry", { queues: ["q.dlq"] });
    let isRunning = true;
    const over = (async () => {
      while ((await broker.bulk(id)).state === "running") await new Promise(setImmediate);
      isRunning = false;
    })();
    const beside = await addsP99(broker, () => !isRunning);
    await over;
    const seconds = (performance.now() - begun) / 1000;
    const { done } = await broker.bulk(id);
    if (done !== dead) throw new Error(`${done} of ${dead} were retried`);
    const conditions = { dead, source: "the broker itself, fsync" };
    report({
      ...{ metric: "dead jobs retried by filter", value: rounded(dead / seconds), unit: "jobs/s" },
      conditions,
    });
    report({
      ...{ metric: "adds beside it, p99 against alone", value: rounded(beside / alone), unit: "x" },
      target: { atMost: 2 },
      conditions: { ...conditions, aloneMs: rounded(alone), besideMs: rounded(beside) },
    });
    await broker.close();
  },
};

async function bury(broker: Broker, count: number): Promise<void> {
  await broker.setQueue("q", { retry: { attempts: 1 } });
  for (let i = 0; i < count; i += BATCH) {
    const size = Math.min(BATCH, count - i);
    await broker.add("q", new Array(size).fill({ payload }));
    const jobs = await broker.lease("q", { max: size });
    await broker.nack(jobs.map(({ lease }) => ({ lease, error: `timeout ${i}` })));
  }
}

// One add after the other, until there are enough or `isOver` says so.
async function addsP99(broker: Broker, isOver: () => boolean): Promise<number> {
  const times: number[] = [];
  while (times.length < ADDS && !isOver()) {
    const begun = performance.now();
    await broker.add("other", [{ payload }]);
    times.push(performance.now() - begun);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
}

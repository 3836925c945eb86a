// A retry of many dead jobs by a filter, and how long adds take beside it and alone.

import { setTimeout as delay } from "node:timers/promises";
import { openBroker } from "@sluice/broker";
import { openLog } from "@sluice/log";
import type { Broker } from "@sluice/protocol";
import type { Group } from "../figure.ts";
import { percentileOf } from "../percentile.ts";
import { Scratch } from "../scratch.ts";
import { figureOf, rounded } from "../spread.ts";

const DEAD = 100_000;
const BATCH = 5000;
/**
 * Adds alone and beside the retry take turns, so that what else the machine does meets both. Each
 * run has its own ratio: one slow sync of the disk is a hundredth of a run, and would be its p99.
 */
const RUNS = 7;
const TURNS = 15;
const ADDS_PER_TURN = 100;
/** As often as a page that shows the progress; a loop without a pause would be load of its own. */
const POLL_MS = 100;
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
    await timedAdds(broker);
    const pairs: Pair[] = [];
    for (let run = 0; run < RUNS; run++) pairs.push(await pairOf(broker));
    const left = await broker.countJobs({ queues: ["q.dlq"] });
    const perSecond = left.count / (await retryLeft(broker));
    const { count } = await broker.countJobs({ queues: ["q"], states: ["waiting"] });
    if (count !== dead) throw new Error(`${count} of ${dead} were retried`);
    const conditions = { dead, source: "the broker itself, fsync" };
    report({
      ...{ metric: "dead jobs retried by filter", value: rounded(perSecond), unit: "jobs/s" },
      conditions: { ...conditions, timed: left.count },
    });
    const p99s = (which: keyof Pair): number[] =>
      pairs.map((pair) => percentileOf(pair[which], 0.99));
    const [alone, beside] = [p99s("alone"), p99s("beside")];
    const ratios = beside.map((ms, run) => ms / alone[run]!);
    const each = { ...conditions, addsPerRun: TURNS * ADDS_PER_TURN };
    report(figureOf("adds alone, p99", "ms", alone, each));
    report(figureOf("adds beside it, p99", "ms", beside, each));
    const ratio = figureOf("adds beside it, p99 against alone", "x", ratios, each);
    report({ ...ratio, target: { atMost: 2 } });
    await broker.close();
  },
};

interface Pair {
  readonly alone: readonly number[];
  readonly beside: readonly number[];
}

async function pairOf(broker: Broker): Promise<Pair> {
  const alone: number[] = [];
  const beside: number[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    alone.push(...(await timedAdds(broker)));
    beside.push(...(await addsBesideRetry(broker)));
  }
  return { alone, beside };
}

/** The retry is stopped with the turn: the next one continues with the dead jobs that are left. */
async function addsBesideRetry(broker: Broker): Promise<number[]> {
  const { id } = await broker.startBulk("retry", { queues: ["q.dlq"] });
  const times = await timedAdds(broker);
  const { state } = await broker.bulk(id);
  await broker.stopBulk(id);
  return state === "running" ? times : [];
}

/** Answers how many seconds it took. */
async function retryLeft(broker: Broker): Promise<number> {
  const begun = performance.now();
  const { id } = await broker.startBulk("retry", { queues: ["q.dlq"] });
  while ((await broker.bulk(id)).state === "running") await delay(POLL_MS);
  return (performance.now() - begun) / 1000;
}

async function bury(broker: Broker, count: number): Promise<void> {
  await broker.setQueue("q", { retry: { attempts: 1 } });
  for (let i = 0; i < count; i += BATCH) {
    const size = Math.min(BATCH, count - i);
    await broker.add("q", new Array(size).fill({ payload }));
    const jobs = await broker.lease("q", { max: size });
    await broker.nack(jobs.map(({ lease }) => ({ lease, error: `timeout ${i}` })));
  }
}

/** One add after the other, in milliseconds. */
async function timedAdds(broker: Broker): Promise<number[]> {
  const times: number[] = [];
  while (times.length < ADDS_PER_TURN) {
    const begun = performance.now();
    await broker.add("other", [{ payload }]);
    times.push(performance.now() - begun);
  }
  return times;
}

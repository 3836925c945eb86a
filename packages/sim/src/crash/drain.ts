// Everything is healthy again: what is left is delivered and acked, and then nothing may be left.

import { setTimeout } from "node:timers/promises";
import { openBroker } from "@sluice/broker";
import { FileLog } from "@sluice/log";
import { allQueues, type Broker, type QueueInfo, SystemClock } from "@sluice/protocol";
import type { Checker } from "../broker-faults/checker.ts";
import { observe } from "../broker-faults/observe.ts";
import { JobMaker, makeFaultPlan } from "../broker-faults/plan.ts";
import { isUnwatched, UNWATCHED } from "../broker-faults/record.ts";
import { Recorder } from "../broker-faults/recorder.ts";
import { type Memory, Workload } from "../broker-faults/workload.ts";
import { Random } from "../random.ts";
import { judgeFlows } from "./flows.ts";
import { SEGMENT_BYTES, STEP_MS } from "./start.ts";
import { judgeTicks, lastTick } from "./ticks.ts";

const ROUNDS_MAX = 200;

export async function drain(
  dir: string,
  checker: Checker,
  firstCall: number,
  memory: Memory,
  planSeed: number,
  folder: string,
): Promise<{ ticks: number; flows: number }> {
  const random = new Random(planSeed);
  const plan = makeFaultPlan(random, STEP_MS);
  const clock = new SystemClock();
  const clockAt = clock.now();
  const log = await FileLog.open({ dir, segmentBytes: SEGMENT_BYTES, onTorn: () => {} });
  const broker = await openBroker({ log, clock, segmentBytes: SEGMENT_BYTES });
  const now = (): number => clock.now();
  const look = async (): ReturnType<typeof observe> => {
    const seen = await observe(broker, plan.stores, checker.groups);
    checker.take({ is: "state", at: now(), clockAt, openMs: now() - clockAt, seen });
    return seen;
  };
  await look();
  let failure: unknown;
  const recorder = new Recorder({
    broker,
    now,
    wallAheadMs: () => 0,
    firstCall,
    write: (record) => {
      try {
        if (failure === undefined) checker.take(record);
      } catch (error) {
        failure = error;
      }
    },
  });
  const jobs = new JobMaker(random, plan, 1);
  const workload = new Workload({ random, plan, jobs, memory, recorder, wall: now });
  workload.isDraining = true;
  for (const gate of plan.gates) {
    await recorder.call({ call: "clearCooldown", gate });
    await recorder.call({ call: "deleteGate", gate });
  }
  // Members that waited for room were killed with their process; groups are held for them for a
  // minute, in case that they come again.
  await broker.releaseGroups(checker.groups);
  const served = new Set<string>();
  for (let round = 0; round < ROUNDS_MAX && failure === undefined; round++) {
    if (await serve(broker, workload, served)) break;
    await setTimeout(STEP_MS);
    workload.drain();
  }
  while (recorder.open > 0) await setTimeout(1);
  if (failure !== undefined) throw failure;
  checker.finish(await look());
  const restMs = lastTick(folder) - clock.now();
  if (restMs > 0) await setTimeout(restMs + STEP_MS);
  // Answered behind what has fallen due.
  await broker.setQueue(UNWATCHED, {});
  const ticks = await judgeTicks(broker, folder);
  const flows = await judgeFlows(broker, folder);
  await broker.close();
  return { ticks, flows };
}

// Answers whether nothing is left to do.
async function serve(broker: Broker, workload: Workload, served: Set<string>): Promise<boolean> {
  const queues = (await allQueues(broker)).filter(({ name }) => !isUnwatched(name));
  for (const { name } of queues) {
    if (!served.has(name)) await workload.consume(name, 100);
    served.add(name);
  }
  return queues.every(isEmpty);
}

function isEmpty({ stats }: QueueInfo): boolean {
  return stats.waiting + stats.delayed + stats.running === 0;
}

// A process that works with a broker until it is killed. Each call is written down before it is
// made, each answer as soon as it is there: what the operating system has taken survives.

import { openSync, readFileSync, writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { setImmediate, setTimeout } from "node:timers/promises";
import { openBroker } from "@sluice/broker";
import { FileLog } from "@sluice/log";
import { SystemClock } from "@sluice/protocol";
import { observe, timeOf } from "../../broker-faults/observe.ts";
import { JobMaker, makeFaultPlan } from "../../broker-faults/plan.ts";
import type { HistoryRecord } from "../../broker-faults/record.ts";
import { Recorder } from "../../broker-faults/recorder.ts";
import { Workload } from "../../broker-faults/workload.ts";
import { Random } from "../../random.ts";
import { makeFlows } from "../flows.ts";
import { SEGMENT_BYTES, STEP_MS, type Start } from "../start.ts";
import { loadSteps } from "../step-load.ts";
import { makeTicks } from "../ticks.ts";

// The most that may be open at once: beyond it producers wait.
const OPEN_MAX = 40;

// Both clocks are cut to whole milliseconds, each at a moment of its own, and a broker takes less
// than ten of them for no step.
const WALL_ERROR_MS = 12;

const start: Start = JSON.parse(readFileSync(process.argv[2]!, "utf8"));
const random = new Random(start.seed);
const plan = makeFaultPlan(new Random(start.planSeed), STEP_MS);
const file = openSync(start.history, "a");
const write = (record: HistoryRecord): void => {
  writeSync(file, `${JSON.stringify(record)}\n`);
};

const startedMs = performance.now();
const clock = new SystemClock();
const clockAt = clock.now();
const log = await FileLog.open({
  dir: start.dir,
  segmentBytes: SEGMENT_BYTES,
  onTorn: () => {},
});
const broker = await openBroker({
  log,
  clock,
  segmentBytes: SEGMENT_BYTES,
  payloadMemoryBytes: random.pick([1, 4 * 1024 * 1024]),
});
const now = await timeNow();
const seen = await observe(broker, plan.stores, start.groups);
const at = now();
// Read after that: the process may be put aside between the two.
const openMs = Math.ceil(performance.now() - startedMs);
write({ is: "state", at, clockAt, openMs, seen });

const recorder = new Recorder({
  broker,
  now,
  wallAheadMs: () => clock.wall() - now() + WALL_ERROR_MS,
  write,
  firstCall: start.firstCall,
});
recorder.onStrange = (error) => {
  throw error;
};
void recorder.listen();
const workload = new Workload({
  random,
  plan,
  jobs: new JobMaker(random, plan, start.firstNumber),
  memory: start.memory,
  recorder,
  wall: () => clock.wall(),
});
if (start.isFirst || random.chance(0.2)) await workload.open();
void makeTicks(broker, start.folder, start.life);
void makeFlows(broker, start.folder, start.life);
for (const queue of plan.queues) await workload.consume(queue);
// A killed process cannot flush at its end, so it flushes now.
if (start.isFirst) flushCompileCache();
void loadSteps(start.steps);
process.stdout.write("open\n");
for (;;) {
  if (recorder.open < OPEN_MAX) workload.step();
  await (random.chance(0.8) ? setImmediate() : setTimeout(1));
}

// The broker's own time: the clock's, unless the log is ahead of it.
async function timeNow(): Promise<() => number> {
  const before = clock.now();
  const at = await timeOf(broker);
  const aheadMs = at > clock.now() ? at - before : 0;
  return () => clock.now() + aheadMs;
}

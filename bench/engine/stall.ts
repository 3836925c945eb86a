// Ten million jobs are added and then taken, one batch in each turn of the event loop: how long
// does a single call take, and how long does the loop stand still?

import { setImmediate } from "node:timers/promises";
import type { Engine } from "@sluice/engine";
import type { Figure, Group, Scale } from "../figure.ts";
import { figureOf, repeat, rounded } from "../spread.ts";
import { Calls, GcPauses, longestCallFigures, type TimedRun } from "./calls.ts";
import {
  BATCH_JOBS,
  EngineJobs,
  EngineLoad,
  expectCount,
  GATE,
  grouped,
  makeEngine,
  QUEUE,
  take,
} from "./load.ts";

const JOBS = 10_000_000;
const LANES = 1_000_000;
const RUNS = 3;

interface Run extends TimedRun {
  readonly stallMs: number;
}

export const stallGroups: readonly Group[] = [{ name: "stall", run: measure }];

async function measure(scale: Scale): Promise<Figure[]> {
  const jobs = scale.size(JOBS);
  const lanes = scale.size(LANES);
  new EngineLoad({ lanes: 10, isGated: true }).warmUp();
  const runs = await repeat(RUNS, () => enqueueAndDispatch(jobs, lanes));
  const of = `while ${grouped(jobs)} jobs are enqueued and dispatched`;
  const conditions = { jobs, lanes, batchJobs: BATCH_JOBS };
  const stalls = runs.map(({ stallMs }) => stallMs);
  const stall = figureOf(`longest stall ${of}`, "ms", stalls, {
    ...conditions,
    stall: "from one turn of the event loop to the next, one batch in each",
    longestGcMs: rounded(Math.max(...runs.map(({ gc }) => gc.longestMs))),
  });
  return [...longestCallFigures(runs, of, conditions), { ...stall, target: { atMost: 50 } }];
}

async function enqueueAndDispatch(jobs: number, lanes: number): Promise<Run> {
  globalThis.gc?.();
  const engine = makeEngine();
  engine.setGate(GATE, { rate: 1e9, burst: 1e9 }, 0);
  const source = new EngineJobs(lanes, GATE);
  const calls = new Calls();
  const gc = new GcPauses();
  // Earlier garbage collections are reported before the first turn is timed.
  await setImmediate();
  let turnAt = performance.now();
  let stallMs = 0;
  for (let turn = 0; turn < (2 * jobs) / BATCH_JOBS; turn++) {
    if (turn < jobs / BATCH_JOBS) addBatch(engine, source, calls);
    else takeBatch(engine, calls);
    await setImmediate();
    const now = performance.now();
    stallMs = Math.max(stallMs, now - turnAt);
    turnAt = now;
  }
  await gc.stop();
  expectCount("jobs finished", engine.queries.queueStats(QUEUE).finished, jobs);
  return { calls, stallMs, gc };
}

function addBatch(engine: Engine, source: EngineJobs, calls: Calls): void {
  const specs = source.next();
  const from = performance.now();
  engine.addAll(QUEUE, specs, 0);
  calls.note("addAll", from);
}

function takeBatch(engine: Engine, calls: Calls): void {
  const from = performance.now();
  const leases = take(engine, 0);
  calls.note("lease", from);
  for (const { id, lease } of leases) {
    const began = performance.now();
    engine.ack(id, lease, 0);
    calls.note("ack", began);
  }
}

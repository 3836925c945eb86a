// Many lanes behind one gate that lets fewer jobs through than wait: how many jobs a second the
// engine manages there, and what one permit costs when only the timer wakes it.

import type { Engine } from "@sluice/engine";
import type { Figure, Group, Scale } from "../figure.ts";
import { figureOf } from "../spread.ts";
import {
  BATCH_JOBS,
  backlogOf,
  EngineJobs,
  expectCount,
  fill,
  GATE,
  grouped,
  makeEngine,
  QUEUE,
  take,
} from "./load.ts";

const LANES = 10_000;
const JOBS_PER_RUN = 1_000_000;
const PERMITS_PER_RUN = 100_000;
const WARM_UP_JOBS = 500_000;
const SLOTS = 1_000_000;

export const saturatedGateGroups: readonly Group[] = [
  { name: "saturated-gate", run: measureWork },
  { name: "permits", run: measurePermits },
];

function measureWork(scale: Scale): Figure {
  const lanes = scale.size(LANES);
  const jobsPerRun = scale.size(JOBS_PER_RUN);
  const load = new SaturatedLoad(lanes);
  load.run(WARM_UP_JOBS);
  const speeds = Array.from({ length: scale.runs }, () => load.run(jobsPerRun));
  const metric = `enqueue + dispatch + ack, ${grouped(lanes)} lanes behind one saturated gate`;
  const figure = figureOf(metric, "jobs/s", speeds, {
    lanes,
    gate: `${BATCH_JOBS} permits each simulated ms, all taken`,
    clock: "engine calls only",
    backlogJobs: backlogOf(lanes),
    batchJobs: BATCH_JOBS,
    jobsPerRun,
  });
  return { ...figure, target: { atLeast: 700_000 } };
}

// One batch comes, and the permits for one batch, in each simulated millisecond.
class SaturatedLoad {
  readonly #engine = makeEngine();
  readonly #jobs: EngineJobs;
  #now = 0;

  constructor(lanes: number) {
    this.#engine.setGate(GATE, { rate: BATCH_JOBS * 1000, burst: BATCH_JOBS }, 0);
    this.#jobs = new EngineJobs(lanes, GATE);
    fill(this.#engine, this.#jobs, backlogOf(lanes), 0);
  }

  // Jobs a second of the engine's time.
  run(jobs: number): number {
    let ms = 0;
    for (let done = 0; done < jobs; done += BATCH_JOBS) ms += this.#batch();
    return (jobs * 1000) / ms;
  }

  #batch(): number {
    const specs = this.#jobs.next();
    const engine = this.#engine;
    const from = performance.now();
    // They come while there is no permit left: the next are those of the next millisecond.
    engine.addAll(QUEUE, specs, this.#now);
    const now = ++this.#now;
    const leases = take(engine, now);
    for (const { id, lease } of leases) engine.ack(id, lease, now);
    const ms = performance.now() - from;
    expectCount("permits of a millisecond", leases.length, BATCH_JOBS);
    return ms;
  }
}

function measurePermits(scale: Scale): Figure[] {
  const lanes = scale.size(LANES);
  const permits = scale.size(PERMITS_PER_RUN);
  const engine = makeEngine();
  engine.setGate(GATE, { rate: 1000, burst: 1 }, 0);
  const jobs = new EngineJobs(lanes, GATE);
  fill(engine, jobs, backlogOf(lanes) + PERMITS_PER_RUN, 0);
  let state = takePermits(engine, PERMITS_PER_RUN, 0);
  const us: number[] = [];
  const wakes: number[] = [];
  for (let run = 0; run < scale.runs; run++) {
    fill(engine, jobs, permits, state.now);
    state = takePermits(engine, permits, state.now);
    us.push((state.ms * 1000) / permits);
    wakes.push(state.wakes / permits);
  }
  const of = `${grouped(lanes)} lanes sharing one gate`;
  const conditions = {
    lanes,
    gate: "one permit each simulated ms",
    clock: "nextWake + dispatch + ack, adding apart",
    permitsPerRun: permits,
  };
  return [
    { ...figureOf(`cost of a permit, ${of}`, "µs", us, conditions), target: { atMost: 3 } },
    { ...figureOf(`wakes for a permit, ${of}`, "wakes", wakes, conditions), target: { atMost: 1 } },
  ];
}

// Does nothing but what the engine's own timer asks for.
function takePermits(
  engine: Engine,
  permits: number,
  start: number,
): { ms: number; wakes: number; now: number } {
  engine.want(QUEUE, "worker", SLOTS, start);
  engine.dispatch(start);
  let now = start;
  let wakes = 0;
  let taken = 0;
  const from = performance.now();
  while (taken < permits) {
    now = engine.nextWake(now);
    if (now === Number.POSITIVE_INFINITY) throw new Error(`no wake after ${taken} permits`);
    wakes++;
    for (const { id, lease } of engine.dispatch(now)) {
      engine.ack(id, lease, now);
      taken++;
    }
  }
  return { ms: performance.now() - from, wakes, now };
}

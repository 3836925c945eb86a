// The load that most figures share: batches of jobs for many lanes are added, taken and finished,
// next to a constant backlog. Only the engine's calls are timed: making the jobs is not its work.

import { Engine, type Fact, type JobSpec, type Lease } from "@sluice/engine";
import { letterQueueConfig, parseQueue, type QueueOptions } from "@sluice/protocol";

export const QUEUE = "jobs";
export const GATE = "api";
export const BATCH_JOBS = 100;

const KEY_BYTES = 8;
const BACKLOG_PER_LANE = 2;
const BACKLOG_MIN = 1000;
// The simulated clock runs as it would at a million jobs a second.
const BATCHES_PER_MS = 10;
// More than any run takes: the gate counts every job and never closes.
const OPEN_GATE = { rate: 1e9, burst: 1e9 };
const WARM_UP_JOBS = 500_000;

// Steps through the lanes: coprime to the powers of ten that count them, and too long to be
// guessed by a processor that fetches memory ahead.
const STRIDES = [618_033_987, 754_877_667, 569_840_291, 819_172_513];

// Jobs of a power of ten of lanes, every lane once a cycle and in another order in each cycle. Keys
// are decoded again for each job, as they are when they come from a socket.
export class EngineJobs {
  readonly #specs: JobSpec[] = [];
  readonly #keys: Buffer;
  readonly #lanes: number;
  #lane = 0;
  #inCycle = 0;
  #cycle = 0;

  constructor(lanes: number, gate: string | undefined, prefix = "t") {
    this.#lanes = lanes;
    this.#keys = Buffer.alloc(lanes * KEY_BYTES);
    for (let lane = 0; lane < lanes; lane++) {
      const key = prefix + String(lane).padStart(KEY_BYTES - 1, "0");
      this.#keys.write(key, lane * KEY_BYTES, "latin1");
    }
    const gates = gate === undefined ? undefined : [gate];
    for (let i = 0; i < BATCH_JOBS; i++) this.#specs.push({ fairnessKey: "", gates });
  }

  // Returns the same array each time, filled with new keys.
  next(): readonly JobSpec[] {
    for (const spec of this.#specs) {
      const at = this.#nextLane() * KEY_BYTES;
      spec.fairnessKey = this.#keys.toString("latin1", at, at + KEY_BYTES);
    }
    return this.#specs;
  }

  #nextLane(): number {
    if (this.#inCycle === this.#lanes) {
      this.#inCycle = 0;
      this.#cycle++;
    }
    this.#inCycle++;
    this.#lane = (this.#lane + STRIDES[this.#cycle % STRIDES.length]!) % this.#lanes;
    return this.#lane;
  }
}

export interface LoadOptions {
  readonly lanes: number;
  readonly isGated: boolean;
  readonly fairness?: boolean;
  // The facts are taken out after each batch of calls, as a broker does.
  readonly tellsFacts?: boolean;
  // Jobs in the backlog; default a couple in each lane.
  readonly backlog?: number;
}

export class EngineLoad {
  readonly engine: Engine;
  readonly backlog: number;
  // How many there were.
  facts = 0;
  readonly #facts: Fact[] | undefined;
  readonly #jobs: EngineJobs;
  #now = 0;
  #batches = 0;

  constructor({ lanes, isGated, fairness = true, tellsFacts = false, backlog }: LoadOptions) {
    this.#facts = tellsFacts ? [] : undefined;
    this.engine = makeEngine({ fairness }, this.#facts);
    this.backlog = backlog ?? backlogOf(lanes);
    if (isGated) this.engine.setGate(GATE, OPEN_GATE, 0);
    this.#jobs = new EngineJobs(lanes, isGated ? GATE : undefined);
    fill(this.engine, this.#jobs, this.backlog, 0);
  }

  // The compiler has seen everything before anything is counted.
  warmUp(): this {
    this.run(WARM_UP_JOBS);
    return this;
  }

  // Jobs a second of the engine's time.
  run(jobs: number): number {
    let ms = 0;
    for (let done = 0; done < jobs; done += BATCH_JOBS) ms += this.#batch();
    return (jobs * 1000) / ms;
  }

  #batch(): number {
    const specs = this.#jobs.next();
    if (++this.#batches % BATCHES_PER_MS === 0) this.#now++;
    const { engine } = this;
    const now = this.#now;
    const from = performance.now();
    engine.addAll(QUEUE, specs, now);
    this.#drain();
    const leases = take(engine, now);
    this.#drain();
    for (const { id, lease } of leases) engine.ack(id, lease, now);
    this.#drain();
    const ms = performance.now() - from;
    expectCount("jobs leased", leases.length, BATCH_JOBS);
    return ms;
  }

  #drain(): void {
    if (this.#facts === undefined) return;
    this.facts += this.#facts.length;
    this.#facts.length = 0;
  }
}

export function makeEngine(options: QueueOptions = {}, facts?: Fact[]): Engine {
  const sink = facts === undefined ? {} : { facts };
  const engine = new Engine({ letterQueue: letterQueueConfig, ...sink });
  const { config } = parseQueue(QUEUE, { ...options, capacity: { jobs: 100_000_000 } });
  engine.setQueue(QUEUE, config, 0);
  return engine;
}

export function fill(engine: Engine, jobs: EngineJobs, count: number, now: number): void {
  const before = engine.queries.queueStats(QUEUE).added;
  for (let added = 0; added < count; added += BATCH_JOBS) engine.addAll(QUEUE, jobs.next(), now);
  expectCount("jobs added", engine.queries.queueStats(QUEUE).added - before, count);
}

// A worker comes for one batch.
export function take(engine: Engine, now: number): Lease[] {
  engine.want(QUEUE, "bench", BATCH_JOBS, now);
  const leases = engine.dispatch(now, BATCH_JOBS);
  engine.want(QUEUE, "bench", 0, now);
  return leases;
}

export function backlogOf(lanes: number): number {
  return Math.max(lanes * BACKLOG_PER_LANE, BACKLOG_MIN);
}

// A figure of an engine that did not do the work would be worth nothing.
export function expectCount(what: string, got: number, wanted: number): void {
  if (got !== wanted) throw new Error(`${what}: ${got} instead of ${wanted}`);
}

// What the figures of this load have in common.
export function loadConditions(load: EngineLoad, jobsPerRun: number) {
  return {
    clock: "engine calls only",
    backlogJobs: load.backlog,
    batchJobs: BATCH_JOBS,
    keyBytes: KEY_BYTES,
    jobsPerRun,
  };
}

export function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

/**
 * Drives an engine under fake time as the broker does: dispatch while there is something to do now,
 * then sleep until `nextWake`. Every job carries a mark that says for whom it is counted.
 */
import type { Fact } from "../facts/facts.ts";
import { type QueueChange, TestEngine } from "../testing/test-engine.ts";
import type { JobSpec, Lease } from "../types.ts";

/** The body of a job: whose service it is, and how much of it. */
export interface Mark {
  lane: string;
  weight: number;
  cost: number;
}

export interface Taken extends Lease {
  at: number;
  mark: Mark;
}

/** Work that one moment may need; beyond it the engine promises work and does none. */
const CALLS_PER_MOMENT_MAX = 50_000;

/**
 * What one call may cost. A step is a visit to a lane, a row or a gate, a few hundred nanoseconds,
 * so that this many stay well below the 5 ms that a call may take.
 */
export const STEPS_PER_CALL_MAX = 5000;

/** Nothing kept and no lease that runs out by itself: what most properties want. */
const PLAIN: QueueChange = {
  results: { jobs: 0, ms: 0 },
  leaseMs: 86_400_000,
  capacity: { jobs: 10_000_000, delayed: 10_000_000, running: 10_000_000 },
};

interface DriveOptions {
  engine?: TestEngine;
  tells?: boolean;
}

export class Drive {
  readonly facts: Fact[] = [];
  readonly engine: TestEngine;
  now = 1_000_000;
  /** The largest number of steps that one call has taken. */
  stepsMax = 0;

  /** Without an engine of your own you get one, and `tells` has it tell its facts. */
  constructor({ engine, tells = false }: DriveOptions = {}) {
    this.engine = engine ?? new TestEngine(tells ? { facts: this.facts } : {});
  }

  /** With this queue, as `open` makes it. */
  static on(queue: string, options: QueueChange = {}, of: DriveOptions = {}): Drive {
    const drive = new Drive(of);
    drive.open(queue, options);
    return drive;
  }

  /** A queue whose workers are always free. */
  open(queue: string, options: QueueChange = {}): void {
    this.engine.setQueue(queue, { ...PLAIN, ...options }, this.now);
    this.engine.want(queue, "w", 1_000_000, this.now);
  }

  add(queue: string, lane: string, spec: JobSpec = {}): number {
    const mark: Mark = { lane, weight: spec.weight ?? 1, cost: spec.cost ?? 1 };
    return this.engine.add(queue, { fairnessKey: lane, body: mark, ...spec }, this.now).id;
  }

  addMany(queue: string, lane: string, count: number, spec: JobSpec = {}): void {
    for (let i = 0; i < count; i++) this.add(queue, lane, spec);
  }

  /** Calls the engine and remembers the most steps that one call took. */
  call<T>(doIt: (engine: TestEngine, now: number) => T): T {
    const before = this.engine.queries.steps;
    const result = doIt(this.engine, this.now);
    this.stepsMax = Math.max(this.stepsMax, this.engine.queries.steps - before);
    return result;
  }

  /** All that can go out now, at most `max`. */
  dispatchNow(max = Number.POSITIVE_INFINITY): Taken[] {
    const taken: Taken[] = [];
    for (let calls = 0; taken.length < max && this.engine.nextWake(this.now) <= this.now; calls++) {
      if (calls > CALLS_PER_MOMENT_MAX) throw new Error("nextWake promises work that is not done");
      const most = Math.min(1000, max - taken.length);
      const leases = this.call((engine, now) => engine.dispatch(now, most));
      for (const lease of leases) taken.push({ ...lease, at: this.now, mark: lease.body as Mark });
    }
    return taken;
  }

  /** The next job that goes out now; undefined: none can. */
  next(): Taken | undefined {
    return this.dispatchNow(1)[0];
  }

  /** The next job that goes out, sleeping from wake to wake until `until` at the latest. */
  nextBy(until: number): Taken | undefined {
    for (;;) {
      const taken = this.next();
      if (taken !== undefined) return taken;
      const wake = this.engine.nextWake(this.now);
      if (wake > until) return undefined;
      this.now = wake;
    }
  }

  /** The next jobs that go out, each acknowledged at once, calling `each` after each of them. */
  run(count: number, each: (taken: Taken, index: number) => void = () => {}): Taken[] {
    const list: Taken[] = [];
    while (list.length < count) {
      const taken = this.nextBy(Number.MAX_SAFE_INTEGER);
      if (taken === undefined) break;
      this.ack(taken);
      list.push(taken);
      each(taken, list.length - 1);
    }
    return list;
  }

  ack(taken: Lease): void {
    this.call((engine, now) => engine.ack(taken.id, taken.lease, now));
  }
}

/**
 * A job while this process holds it. The states, and what leads from one to the next:
 *
 *   held    leased to us; heartbeats keep it so
 *   ending  an ack, a nack or a give-back is on its way: no more heartbeats, no second end
 *   lost    the lease ran out, or the job was cancelled or ended elsewhere: its signal is aborted
 *
 * A job that is suspended is ending too: its signal is aborted with SUSPENDED.
 *
 * held → ending by the first end that is asked for; held → lost by a heartbeat that is refused, or
 * by a cancel from here. Both are final: what else is asked of the job is refused with LEASE_LOST.
 */
import {
  type Duration,
  type ErrorJson,
  type FairnessKey,
  invalid,
  type JobLife,
  knownFields,
  LEASE,
  type LeasedJob,
  parseDuration,
  SluiceError,
  type StepName,
  type StepsInfo,
  type Suspension,
} from "@sluice/protocol";
import type { Dependency } from "./dependency.ts";
import { type Failure, failureOf } from "./errors.ts";
import { runOnce } from "./once.ts";
import { checkJson, encodeResult } from "./payload.ts";
import type { StandardSchema } from "./schema.ts";
import { JobSteps, type Steps } from "./steps.ts";
import type { Transaction } from "./transaction.ts";
import type { WorkJob } from "./work-job.ts";

/** What a handler gets beside its job. The functions may be taken out of the object. */
export interface WorkContext {
  /** Aborted when the lease is lost, the job is cancelled, or the time for `close()` is over. */
  readonly signal: AbortSignal;
  /** The lease lasts this long from now, and heartbeats follow it. Answers when it ends. */
  readonly extend: (duration: Duration) => Promise<number>;
  /** Anything that JSON can carry in 8 KiB; it is kept with the job, also over a restart. */
  readonly progress: (progress: unknown) => Promise<void>;
}

/** What a handler of one job gets beside it. */
export interface HandlerContext extends WorkContext {
  /** Parts of the handler whose results are remembered, and waits without a worker. */
  readonly step: Steps;
}

/** A job of `consume`. The caller that takes it must also end it. */
export interface ConsumedJob<Payload, Result> extends WorkJob<Payload>, WorkContext {
  ack(result?: Result): Promise<void>;
  /** It failed: it is retried after the delay, or after the backoff of its queue. */
  nack(error?: unknown, options?: { delay?: Duration }): Promise<void>;
  /** It was not started: it goes back to the front, and no attempt is lost. */
  giveBack(): Promise<void>;
}

/**
 * Told how the end of a job was answered; without an error it is durable. What the caller needs
 * besides comes back as `told`: one function for all jobs, where a closure for each was a tenth of
 * what a job takes of a worker's memory.
 */
export type Answered<Told = undefined> = (
  job: Delivery,
  error: ErrorJson | undefined,
  told: Told,
) => void;

/** What a delivery needs from the part that keeps its lease. */
export interface DeliveryLeases {
  readonly result: StandardSchema | undefined;
  ack(job: Delivery, result: Uint8Array | undefined, answered: Answered, told: undefined): void;
  nack(job: Delivery, failure: Failure, answered: Answered, told: undefined): void;
  giveBack(job: Delivery, answered: Answered): void;
  extend(job: Delivery, leaseMs: number): Promise<number>;
  progress(job: Delivery, progress: unknown): Promise<void>;
  log(job: Delivery, line: string): Promise<void>;
  dependencies<Result>(job: Delivery): AsyncGenerator<Dependency<Result>, undefined>;
  life(job: Delivery): Promise<JobLife>;
  steps(job: Delivery, cursor: string | undefined): Promise<StepsInfo>;
  recordStep(job: Delivery, step: StepName & { value?: unknown }): Promise<void>;
  suspend(job: Delivery, of: Omit<Suspension, "lease">): Promise<boolean>;
}

export type DeliveryState = "held" | "ending" | "lost";

/** The neighbours of a job in a list of `HeldJobs`. */
let beforeOf: (job: Delivery) => Delivery | undefined;
let afterOf: (job: Delivery) => Delivery | undefined;
let setBefore: (job: Delivery, before: Delivery | undefined) => void;
let setAfter: (job: Delivery, after: Delivery | undefined) => void;

/** Users see it through the interfaces above; the rest is between it and `Leases`. */
export class Delivery implements ConsumedJob<unknown, unknown> {
  readonly id: string;
  readonly queue: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly attempt: number;
  readonly attempts: number;
  readonly deliveries: number;
  readonly hasSteps: boolean;
  readonly tier: number;
  readonly fairnessKey: FairnessKey;
  readonly addedAt: number;
  /** Called when the job is suspended; absent: nothing that could run again has it. */
  onSuspended: (() => void) | undefined = undefined;
  #steps: JobSteps | undefined = undefined;
  /** The bytes, until they are read for the first time. */
  payload: unknown;
  readonly lease: string;
  /** What each heartbeat extends the lease by, and when the next one is due. */
  leaseMs: number;
  beatAt: number;
  readonly #leases: DeliveryLeases;
  #state: DeliveryState = "held";
  #abort: AbortController | undefined = undefined;
  #lostBy: SluiceError | undefined = undefined;
  /** Its neighbours among the jobs that are held. */
  #before: Delivery | undefined = undefined;
  #after: Delivery | undefined = undefined;

  static {
    beforeOf = (job) => job.#before;
    afterOf = (job) => job.#after;
    setBefore = (job, before) => {
      job.#before = before;
    };
    setAfter = (job, after) => {
      job.#after = after;
    };
  }

  constructor(leases: DeliveryLeases, job: LeasedJob, leaseMs: number, beatAt: number) {
    this.id = job.id;
    this.queue = job.queue;
    this.headers = job.headers;
    this.attempt = job.attempt;
    this.attempts = job.attempts;
    this.deliveries = job.deliveries;
    this.hasSteps = job.hasSteps === true;
    this.tier = job.tier;
    this.fairnessKey = job.fairnessKey;
    this.addedAt = job.addedAt;
    this.payload = job.payload;
    this.lease = job.lease;
    this.leaseMs = leaseMs;
    this.beatAt = beatAt;
    this.#leases = leases;
  }

  get state(): DeliveryState {
    return this.#state;
  }

  dependencies<Result = unknown>(): AsyncGenerator<Dependency<Result>, undefined> {
    return this.#leases.dependencies(this);
  }

  /** The one place where the state changes; false when it is final already. */
  leave(to: "ending" | "lost", reason?: SluiceError): boolean {
    if (this.#state !== "held") return false;
    this.#state = to;
    if (reason !== undefined) this.abort(reason);
    return true;
  }

  abort(reason: SluiceError): void {
    this.#lostBy = reason;
    this.#abort?.abort(reason);
  }

  /** Made when it is asked for: most handlers of short jobs never do. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#lostBy !== undefined) this.#abort.abort(this.#lostBy);
    }
    return this.#abort.signal;
  }

  get extend(): (duration: Duration) => Promise<number> {
    return (duration) => handled(this.#extend(duration));
  }

  get progress(): (progress: unknown) => Promise<void> {
    return (progress) => handled(this.#tell(progress));
  }

  get log(): (line: string) => Promise<void> {
    return (line) => handled(this.#log(line));
  }

  get step(): Steps {
    if (this.onSuspended === undefined) {
      const message = "steps are for handlers of one job: queue.work(handler) without `batch`";
      throw new SluiceError("INVALID", message, { field: "step" });
    }
    const leases = this.#leases;
    this.#steps ??= new JobSteps({
      hasSteps: this.hasSteps,
      steps: (cursor) => leases.steps(this, cursor),
      record: async (step) => {
        this.#demandHeld();
        await leases.recordStep(this, step);
      },
      suspend: async (of) => {
        this.#demandHeld();
        return leases.suspend(this, of);
      },
    });
    return this.#steps;
  }

  async once<T>(tx: Transaction, act: () => T | Promise<T>): Promise<Awaited<T> | undefined> {
    this.#demandHeld();
    const lease = {
      id: this.id,
      life: () => this.#leases.life(this),
      prove: async () => {
        this.#demandHeld();
        await this.#leases.extend(this, this.leaseMs);
      },
    };
    return runOnce(lease, tx, act);
  }

  async #extend(duration: Duration): Promise<number> {
    const leaseMs = LEASE.parse("extend", duration);
    this.#demandHeld();
    return this.#leases.extend(this, leaseMs);
  }

  async #tell(progress: unknown): Promise<void> {
    checkJson("progress", progress);
    this.#demandHeld();
    await this.#leases.progress(this, progress);
  }

  async #log(line: string): Promise<void> {
    if (typeof line !== "string") throw invalid("log", "a text", line);
    this.#demandHeld();
    await this.#leases.log(this, line);
  }

  async ack(result?: unknown): Promise<void> {
    const { bytes } = await encodeResult(this.#leases.result, result);
    await this.#end((answered) => this.#leases.ack(this, bytes, answered, undefined));
  }

  async nack(error?: unknown, options: { delay?: Duration } = {}): Promise<void> {
    const { delay } = knownFields<{ delay?: Duration }>("nack", options, ["delay"]);
    const nack = failureOf(error);
    if (delay !== undefined) nack.delayMs = parseDuration("nack.delay", delay);
    await this.#end((answered) => this.#leases.nack(this, nack, answered, undefined));
  }

  async giveBack(): Promise<void> {
    await this.#end((answered) => this.#leases.giveBack(this, answered));
  }

  #end(act: (answered: Answered) => void): Promise<void> {
    this.#demandHeld();
    return new Promise((resolve, reject) => {
      act((_, error) => (error === undefined ? resolve() : reject(SluiceError.fromJSON(error))));
    });
  }

  #demandHeld(): void {
    if (this.#state === "held") return;
    if (this.#lostBy !== undefined) throw this.#lostBy;
    throw new SluiceError(
      "LEASE_LOST",
      `the lease of job ${this.id} is over; another worker may run it`,
      { id: this.id },
    );
  }
}

/**
 * The jobs that one consumer holds, in the order in which they came. They are linked to each other:
 * with a `Set` a worker of small jobs took a fifth more of the processor, for hashing, for growing
 * and for memory that every collection goes through.
 */
export class HeldJobs {
  #first: Delivery | undefined = undefined;
  #last: Delivery | undefined = undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(job: Delivery): boolean {
    return job === this.#first || beforeOf(job) !== undefined;
  }

  add(job: Delivery): void {
    if (this.has(job)) return;
    const last = this.#last;
    if (last === undefined) this.#first = job;
    else {
      setBefore(job, last);
      setAfter(last, job);
    }
    this.#last = job;
    this.#size++;
  }

  /** False when it was not there. */
  delete(job: Delivery): boolean {
    if (!this.has(job)) return false;
    const before = beforeOf(job);
    const after = afterOf(job);
    if (before === undefined) this.#first = after;
    else setAfter(before, after);
    if (after === undefined) this.#last = before;
    else setBefore(after, before);
    setBefore(job, undefined);
    setAfter(job, undefined);
    this.#size--;
    return true;
  }

  /** Those that are held now: what the caller does to some of them changes nothing in the list. */
  all(): Delivery[] {
    const jobs: Delivery[] = [];
    for (let job = this.#first; job !== undefined; job = afterOf(job)) jobs.push(job);
    return jobs;
  }
}

/**
 * A caller that does not await the answer does not get its error either: a lost lease must not end
 * the process as an unhandled rejection.
 */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/**
 * The leases that one consumer holds: keeps them alive, ends them in batches, and notices when one
 * is lost.
 *
 * Heartbeats: each lease is extended when a third of its time is over, so that two can fail before
 * it runs out. One timer serves all of them; when it fires, those that would be due soon travel
 * along.
 */
import {
  type Ack,
  type Broker,
  type CallOptions,
  type Clock,
  type ErrorJson,
  type Extend,
  isLosing,
  type JobLife,
  type LeasedJob,
  type Logged,
  type Nack,
  type Progress,
  SluiceError,
  type StepName,
  type StepResult,
  type StepsInfo,
  type Suspension,
  type Timer,
} from "@sluice/protocol";
import { type Answered, Delivery, type DeliveryLeases, HeldJobs } from "./delivery.ts";
import { readDependencies } from "./dependencies.ts";
import type { Dependency } from "./dependency.ts";
import type { Failure } from "./errors.ts";
import { Gather, type Waiter } from "./gather.ts";
import type { StandardSchema } from "./schema.ts";

export interface LeasesOptions {
  readonly port: Broker;
  readonly clock: Clock;
  /** The broker is in this process: there is no connection to wait for. */
  readonly inProcess: boolean;
  /** What results must match. */
  readonly result?: StandardSchema | undefined;
  /** A batch of ends has left: there is room for more jobs. */
  readonly onSent: () => void;
  /** An end was answered, for better or worse. */
  readonly onAnswered: () => void;
  readonly onLost: (job: Delivery, error: SluiceError) => void;
  readonly onError: (error: SluiceError) => void;
}

/** The share of a lease after which it is extended, and the share that a heartbeat may be early. */
const BEAT_SHARE = 1 / 3;
const EARLY_SHARE = 1 / 12;

export class Leases implements DeliveryLeases {
  readonly #options: LeasesOptions;
  readonly #held = new HeldJobs();
  readonly #acks: Gather<Ack, true>;
  readonly #nacks: Gather<Nack, true | number>;
  readonly #returns: Gather<string, true>;
  readonly #extends: Gather<Extend, number>;
  readonly #progress: Gather<Progress, true>;
  readonly #logs: Gather<Logged, true>;
  readonly #records: Gather<StepResult, true>;
  readonly #suspensions: Gather<Suspension, boolean>;
  readonly #inTime: () => CallOptions | undefined;
  /**
   * The longest lease so far. A call about a lease is repeated over reconnects for as long as the
   * lease may last, which is often longer than other calls wait; after it an answer is of no use.
   */
  #longestMs = 0;
  #timer: Timer | undefined = undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #lastError: ErrorJson | undefined = undefined;

  constructor(options: LeasesOptions) {
    this.#options = options;
    const { port, inProcess, onSent } = options;
    // A broker in this process is never away: only a call over a connection needs a timer.
    const inTime = (): CallOptions | undefined =>
      inProcess ? undefined : { timeout: this.#longestMs };
    this.#inTime = inTime;
    const sent = <T>(answer: Promise<T>): Promise<T> => {
      onSent();
      return answer;
    };
    this.#acks = new Gather((items) => sent(port.ack(items, inTime())));
    this.#nacks = new Gather((items) => sent(port.nack(items, inTime())));
    this.#returns = new Gather((items) => sent(port.giveBack(items, inTime())));
    this.#extends = new Gather((items) => port.extend(items, inTime()));
    this.#logs = new Gather((items) => port.log(items, inTime()));
    this.#progress = new Gather((items) => port.progress(items, inTime()));
    this.#records = new Gather((items) => port.recordStep(items, inTime()));
    this.#suspensions = new Gather((items) => port.suspend(items, inTime()));
  }

  /** What results must match. */
  get result(): StandardSchema | undefined {
    return this.#options.result;
  }

  /** Those that are held now; ending some of them changes nothing in the list. */
  get held(): readonly Delivery[] {
    return this.#held.all();
  }

  get size(): number {
    return this.#held.size;
  }

  /** Ends that were asked for and are not answered yet. */
  get unconfirmed(): number {
    return this.#acks.size + this.#nacks.size + this.#returns.size;
  }

  /** Takes jobs that have just arrived. The broker's clock says when their leases end, not ours. */
  take(jobs: readonly LeasedJob[]): Delivery[] {
    const now = this.#options.clock.now();
    return jobs.map((job) => {
      const beatAt = now + job.expiresIn * BEAT_SHARE;
      if (job.expiresIn > this.#longestMs) this.#longestMs = job.expiresIn;
      const delivery = new Delivery(this, job, job.expiresIn, beatAt);
      this.#held.add(delivery);
      if (beatAt < this.#timerAt) this.#beatAt(beatAt);
      return delivery;
    });
  }

  ack<Told>(
    job: Delivery,
    result: Uint8Array | undefined,
    answered: Answered<Told>,
    told: Told,
  ): void {
    if (!this.#leave(job)) return;
    const item = result === undefined ? { lease: job.lease } : { lease: job.lease, result };
    this.#acks.add(item, this.#wait(job, answered, told));
  }

  nack<Told>(job: Delivery, failure: Failure, answered: Answered<Told>, told: Told): void {
    if (!this.#leave(job)) return;
    this.#nacks.add({ lease: job.lease, ...failure }, this.#wait(job, answered, told));
  }

  /** Ends a job whose end was refused: left alone it would run again when its lease is over. */
  failRefused<Told>(job: Delivery, failure: Failure, answered: Answered<Told>, told: Told): void {
    this.#nacks.add({ lease: job.lease, ...failure }, this.#wait(job, answered, told));
  }

  giveBack(job: Delivery, answered: Answered): void {
    if (this.#leave(job)) this.#returns.add(job.lease, this.#wait(job, answered, undefined));
  }

  async extend(job: Delivery, leaseMs: number): Promise<number> {
    if (leaseMs > this.#longestMs) this.#longestMs = leaseMs;
    const until = await this.#ask(job, this.#extends.ask({ lease: job.lease, leaseMs }));
    job.leaseMs = leaseMs;
    job.beatAt = this.#options.clock.now() + leaseMs * BEAT_SHARE;
    if (job.beatAt < this.#timerAt) this.#beatAt(job.beatAt);
    return until;
  }

  dependencies<Result>(job: Delivery): AsyncGenerator<Dependency<Result>, undefined> {
    return readDependencies(this.#options.port, job.id, undefined);
  }

  async progress(job: Delivery, progress: unknown): Promise<void> {
    await this.#ask(job, this.#progress.ask({ lease: job.lease, progress }));
  }

  async log(job: Delivery, line: string): Promise<void> {
    await this.#ask(job, this.#logs.ask({ lease: job.lease, lines: [line] }));
  }

  async life(job: Delivery): Promise<JobLife> {
    const [outcome] = await this.#options.port.lives([job.id], this.#inTime());
    if (outcome!.error !== undefined) throw SluiceError.fromJSON(outcome!.error);
    return outcome!.ok!;
  }

  steps(job: Delivery, cursor: string | undefined): Promise<StepsInfo> {
    const page = cursor === undefined ? {} : { cursor };
    return this.#options.port.steps(job.id, { ...this.#inTime(), ...page });
  }

  async recordStep(job: Delivery, step: StepName & { value?: unknown }): Promise<void> {
    await this.#ask(job, this.#records.ask({ lease: job.lease, ...step }));
  }

  /**
   * No heartbeat follows while the answer is on its way: the lease may be over. False: it is not,
   * and the job runs on.
   */
  async suspend(job: Delivery, of: Omit<Suspension, "lease">): Promise<boolean> {
    this.#held.delete(job);
    let isSuspended = false;
    try {
      isSuspended = await this.#ask(job, this.#suspensions.ask({ lease: job.lease, ...of }));
    } finally {
      if (!isSuspended && job.state === "held") this.#held.add(job);
    }
    const why = `job ${job.id} waits for step ${JSON.stringify(of.name)}`;
    if (isSuspended && job.leave("ending", new SluiceError("SUSPENDED", why))) job.onSuspended?.();
    return isSuspended;
  }

  /** If the answer says that the lease is gone, the job is lost, whatever the call was. */
  async #ask<T>(job: Delivery, answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof SluiceError && isLosing(error)) this.lose(job, error);
      throw error;
    }
  }

  /** Jobs that are gone, whatever the next heartbeat would say. */
  loseAll(isGone: (job: Delivery) => boolean, why: string): void {
    for (const job of this.#held.all()) {
      if (!isGone(job) || job.state !== "held") continue;
      this.lose(job, new SluiceError("LEASE_LOST", `job ${job.id} ${why}`, { id: job.id }));
    }
  }

  /** Extends all leases now: one that is over is noticed at once, not at its next heartbeat. */
  beatNow(): void {
    const now = this.#options.clock.now();
    for (const job of this.#held.all()) this.#extend(job, now);
  }

  lose(job: Delivery, error: SluiceError): void {
    if (!job.leave("lost", error)) return;
    this.#held.delete(job);
    this.#options.onLost(job, error);
  }

  /** Sends what is gathered now, for a caller that is about to leave. */
  flush(): void {
    for (const gather of [this.#acks, this.#nacks, this.#returns]) gather.flush();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timerAt = Number.NEGATIVE_INFINITY;
  }

  #wait<Told>(job: Delivery, answered: Answered<Told>, told: Told): Waiter<true> {
    return new Ended(job, answered, told, this.#options.onAnswered);
  }

  #leave(job: Delivery): boolean {
    return job.leave("ending") && this.#held.delete(job);
  }

  #beatAt(time: number): void {
    this.#timer?.cancel();
    this.#timerAt = time;
    this.#timer = this.#options.clock.at(time, () => this.#beat());
  }

  #beat(): void {
    const now = this.#options.clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const job of this.#held.all()) {
      if (job.beatAt <= now + job.leaseMs * EARLY_SHARE) this.#extend(job, now);
      next = Math.min(next, job.beatAt);
    }
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
    if (next !== Number.POSITIVE_INFINITY) this.#beatAt(next);
  }

  #extend(job: Delivery, now: number): void {
    job.beatAt = now + job.leaseMs * BEAT_SHARE;
    this.#extends.add(
      { lease: job.lease, leaseMs: job.leaseMs },
      { done: () => {}, refused: (error) => this.#refused(job, error) },
    );
  }

  /** Reports a call that failed as a whole once. The next heartbeat tries it again. */
  #refused(job: Delivery, error: ErrorJson): void {
    if (job.state !== "held") return;
    if (isLosing(error)) return this.lose(job, SluiceError.fromJSON(error));
    if (error === this.#lastError) return;
    this.#lastError = error;
    this.#options.onError(SluiceError.fromJSON(error));
  }
}

/** Waits for the answer to one end. */
class Ended<Told> implements Waiter<true> {
  readonly #job: Delivery;
  readonly #answered: Answered<Told>;
  readonly #told: Told;
  readonly #after: () => void;

  constructor(job: Delivery, answered: Answered<Told>, told: Told, after: () => void) {
    this.#job = job;
    this.#answered = answered;
    this.#told = told;
    this.#after = after;
  }

  done(): void {
    this.#answered(this.#job, undefined, this.#told);
    this.#after();
  }

  refused(error: ErrorJson): void {
    this.#answered(this.#job, error, this.#told);
    this.#after();
  }
}

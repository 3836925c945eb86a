/**
 * A job while this process holds it. The states, and what leads from one to the next:
 *
 *   held    leased to us; heartbeats keep it so
 *   ending  an ack, a nack or a give-back is on its way: no more heartbeats, no second end
 *   lost    the lease ran out, or the job was cancelled or ended elsewhere: its signal is aborted
 *
 * held → ending by the first end that is asked for; held → lost by a heartbeat that is refused, or
 * by a cancel from here. Both are final: what else is asked of the job is refused with LEASE_LOST.
 */
import {
  type Duration,
  type ErrorJson,
  type FairnessKey,
  knownFields,
  LEASE,
  type LeasedJob,
  parseDuration,
  SluiceError,
} from "@sluice/protocol";
import { type Failure, failureOf } from "./errors.ts";
import { checkJson, encodeResult } from "./payload.ts";
import type { StandardSchema } from "./schema.ts";
import type { WorkJob } from "./work-job.ts";

/** What a handler gets beside its job. The functions may be taken out of the object. */
export interface WorkContext {
  /** Aborted when the lease is lost, the job is cancelled or the worker closes over time. */
  readonly signal: AbortSignal;
  /** The lease lasts this long from now, and heartbeats follow it. Answers when it ends. */
  readonly extend: (duration: Duration) => Promise<number>;
  /** Anything that JSON can carry in 8 KiB; it is kept with the job, also over a restart. */
  readonly progress: (progress: unknown) => Promise<void>;
}

/** A job of `consume`: whoever takes it also ends it. */
export interface ConsumedJob<Payload, Result> extends WorkJob<Payload>, WorkContext {
  ack(result?: Result): Promise<void>;
  /** It failed: it is retried after the delay, or after the backoff of its queue. */
  nack(error?: unknown, options?: { delay?: Duration }): Promise<void>;
  /** It was not started: it goes back to the front, and no attempt is lost. */
  giveBack(): Promise<void>;
}

/** Told how the end of a job was answered; without an error it is durable. */
export type Answered = (job: Delivery, error: ErrorJson | undefined) => void;

/** What a delivery asks of those who keep its lease. */
export interface DeliveryLeases {
  readonly result: StandardSchema | undefined;
  ack(job: Delivery, result: Uint8Array | undefined, answered: Answered): void;
  nack(job: Delivery, failure: Failure, answered: Answered): void;
  giveBack(job: Delivery, answered: Answered): void;
  extend(job: Delivery, leaseMs: number): Promise<number>;
  progress(job: Delivery, progress: unknown): Promise<void>;
}

export type DeliveryState = "held" | "ending" | "lost";

/** Users see it through the interfaces above; the rest is between it and `Leases`. */
export class Delivery implements ConsumedJob<unknown, unknown> {
  readonly id: string;
  readonly queue: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly attempt: number;
  readonly attempts: number;
  readonly deliveries: number;
  readonly tier: number;
  readonly fairnessKey: FairnessKey;
  readonly addedAt: number;
  /** The bytes, until somebody has read them. */
  payload: unknown;
  readonly lease: string;
  /** What each heartbeat extends the lease by, and when the next one is due. */
  leaseMs: number;
  beatAt: number;
  readonly #leases: DeliveryLeases;
  #state: DeliveryState = "held";
  #abort: AbortController | undefined = undefined;
  #lostBy: SluiceError | undefined = undefined;

  constructor(leases: DeliveryLeases, job: LeasedJob, leaseMs: number, beatAt: number) {
    this.id = job.id;
    this.queue = job.queue;
    this.headers = job.headers;
    this.attempt = job.attempt;
    this.attempts = job.attempts;
    this.deliveries = job.deliveries;
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

  async ack(result?: unknown): Promise<void> {
    const { bytes } = await encodeResult(this.#leases.result, result);
    await this.#end((answered) => this.#leases.ack(this, bytes, answered));
  }

  async nack(error?: unknown, options: { delay?: Duration } = {}): Promise<void> {
    const { delay } = knownFields<{ delay?: Duration }>("nack", options, ["delay"]);
    const nack = failureOf(error);
    if (delay !== undefined) nack.delayMs = parseDuration("nack.delay", delay);
    await this.#end((answered) => this.#leases.nack(this, nack, answered));
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
    throw new SluiceError("LEASE_LOST", `job ${this.id} is not held any more`, { id: this.id });
  }
}

/**
 * Whoever does not wait for the answer is not told of an error either: a lease that was lost must
 * not end the process as an unhandled rejection.
 */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

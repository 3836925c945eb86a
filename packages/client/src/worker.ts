/**
 * The worker loop. It knows only the port.
 *
 *   running  jobs come as there are credits; each, or each batch, runs in a slot of its own
 *   closing  no more jobs come; those not started go back, those that run may end
 *   closed   nothing is held; remaining handlers were aborted, and their outcome is ignored
 *
 * running → closing by `close()`, when the queue is deleted, or when the broker closes or refuses;
 * closing → closed when the last handler has ended or the time is over.
 *
 * Credits: the slots and the places held ready, less what runs, is held ready or may come already,
 * is what the broker may send besides. They are renewed when a batch of ends has left, not when it
 * is confirmed: the next jobs come while the log is being written.
 */
import {
  type CloseOptions,
  type Consumer,
  type ErrorJson,
  isLosing,
  type LeasedJob,
  parseClose,
  SluiceError,
  type Work,
} from "@sluice/protocol";
import { Batching } from "./batching.ts";
import { Grace, keepAlive, Watch } from "./closing.ts";
import type { Connection, Holder } from "./connection.ts";
import type { Delivery } from "./delivery.ts";
import { Emitter, emit, hears, toError } from "./emitter.ts";
import { plainly, textOf, willRetry } from "./errors.ts";
import { WORK_EVENTS, type WorkEvents } from "./events.ts";
import { Leases } from "./leases.ts";
import { UNCONFIRMED_MAX } from "./limits.ts";
import type { LocalOptions } from "./queue-options.ts";
import { type BatchHandler, runBatch } from "./run-batch.ts";
import { type Handler, type RunEnd, type RunOptions, runJob } from "./run-job.ts";
import { Slots } from "./slots.ts";
import type { WorkJob } from "./work-job.ts";

export interface WorkerOptions {
  readonly connection: Connection;
  readonly queue: string;
  readonly name: string;
  readonly local: LocalOptions;
  /** Of one job or, with `work.batch`, of a batch. */
  readonly handler: Handler<never, unknown> | BatchHandler<never, unknown>;
  readonly work: Work;
  /** Hears what the worker tells. */
  readonly above: Emitter<WorkEvents<never, never>>;
}

export class Worker<Payload, Result>
  extends Emitter<WorkEvents<Payload, Result>>
  implements Holder, AsyncDisposable
{
  readonly name: string;
  readonly queue: string;
  readonly #options: WorkerOptions;
  readonly #leases: Leases;
  readonly #slots: Slots;
  readonly #run: RunOptions;
  readonly #batching: Batching | undefined;
  readonly #release = keepAlive();
  readonly #watch = new Watch();
  readonly #grace: Grace;
  readonly #consumer: Promise<Consumer | undefined>;
  #ready: Delivery[] = [];
  /** Jobs whose handlers run now. */
  #started = 0;
  /** What the broker may still send. */
  #credits: number;
  #addCredits: (count: number) => void = () => {};
  #state: "running" | "closing" | "closed" = "running";
  #closing: Promise<void> | undefined = undefined;

  /** Users call `queue.work`. @internal */
  constructor(options: WorkerOptions) {
    super(WORK_EVENTS, options.above);
    const { connection, work } = options;
    this.name = options.name;
    this.queue = options.queue;
    this.#options = options;
    const onError = (error: unknown): void => this.#tellError(error);
    this.#leases = new Leases({
      port: connection.port,
      clock: connection.clock,
      inProcess: connection.inProcess,
      onSent: () => this.#refill(),
      onAnswered: () => this.#look(),
      onLost: (job, error) => this.#lost(job, error),
      onError,
    });
    this.#slots = new Slots({
      clock: connection.clock,
      rule: work.concurrency,
      onScaled: (scaled) => {
        this.#emit("scaled", { worker: this.name, ...scaled });
        this.#refill();
      },
      onError,
    });
    this.#run = {
      local: options.local,
      tracing: connection.tracing,
      handler: options.handler as Handler<unknown, unknown>,
      onStarted: (job) => {
        if (hears(this, "started")) this.#emit("started", { job: job as WorkJob<Payload> });
      },
      onError,
    };
    const { batch: rule } = work;
    this.#batching =
      rule === undefined
        ? undefined
        : new Batching({ clock: connection.clock, rule, onDue: () => this.#startReady() });
    this.#grace = new Grace(connection, () => this.#watch.look());
    this.#credits = this.#places;
    this.#consumer = this.#consume(this.#credits);
  }

  /** Handlers that run now. */
  get running(): number {
    return this.#slots.busy;
  }

  /** Handlers that may run side by side; it changes when the concurrency is elastic. */
  get concurrency(): number {
    return this.#slots.count;
  }

  /** Closing again waits for the first close; a shorter time shortens its time. */
  async close(options: CloseOptions = {}): Promise<void> {
    this.#grace.give(parseClose(options));
    this.#closing ??= this.#close();
    await this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** @internal */
  jobsGone(isGone: (job: Delivery) => boolean, why: string): void {
    this.#leases.loseAll(isGone, why);
  }

  /** @internal */
  checkLeases(queue: string): void {
    if (queue === this.queue) this.#leases.beatNow();
  }

  async #consume(credits: number): Promise<Consumer | undefined> {
    const { connection, queue, work } = this.#options;
    try {
      const { inProcess, place } = connection;
      const options = { worker: this.name, credits, lease: work.leaseMs, inProcess, place };
      const consumer = await connection.port.consume(queue, options, (jobs) => this.#receive(jobs));
      this.#addCredits = (count) => consumer.addCredits(count);
      void consumer.over.then(() => this.#end());
      this.#refill();
      return consumer;
    } catch (error) {
      this.#tellError(error);
      this.#end();
      return undefined;
    }
  }

  /** The broker has nothing more for us; later than `#consumer` is set, which closing waits for. */
  #end(): void {
    queueMicrotask(() => void this.close());
  }

  #receive(jobs: readonly LeasedJob[]): void {
    this.#credits -= jobs.length;
    for (const job of this.#leases.take(jobs)) {
      if (this.#state !== "running") this.#giveBack(job);
      else if (this.#batching !== undefined) this.#ready.push(job);
      else if (this.#slots.busy < this.#slots.count) this.#start(job);
      else if (this.#ready.length < this.#options.work.prefetch) this.#ready.push(job);
      // There are fewer slots since the credit was given, and others may have a free one.
      else this.#giveBack(job);
    }
    if (this.#batching !== undefined) this.#startReady();
  }

  #start(job: Delivery): void {
    this.#slots.take();
    this.#started++;
    const end = runJob(job, this.#run);
    if (!(end instanceof Promise)) return this.#ended(job, end);
    void end.then((ended) => {
      this.#ended(job, ended);
      this.#startReady();
    });
  }

  #startBatch(jobs: readonly Delivery[]): void {
    const handler = this.#options.handler as BatchHandler<unknown, unknown>;
    this.#slots.take();
    this.#started += jobs.length;
    void runBatch(jobs, { ...this.#run, handler }).then((ends) => {
      this.#slots.release();
      for (const [i, job] of jobs.entries()) this.#over(job, ends[i]!);
      this.#startReady();
    });
  }

  #ended(job: Delivery, end: RunEnd): void {
    this.#slots.release();
    this.#over(job, end);
  }

  #over(job: Delivery, end: RunEnd): void {
    this.#started--;
    if (job.state === "held") this.#finish(job, end);
    else this.#refill();
    this.#look();
  }

  #startReady(): void {
    const batching = this.#batching;
    if (batching !== undefined) {
      while (this.#slots.busy < this.#slots.count && batching.mayStart(this.#ready)) {
        this.#startBatch(batching.take(this.#ready));
      }
      return;
    }
    while (this.#ready.length > 0 && this.#slots.busy < this.#slots.count) {
      const job = this.#ready.shift()!;
      if (job.state === "held") this.#start(job);
    }
  }

  #finish(job: Delivery, end: RunEnd): void {
    const { failure } = end;
    if (failure === undefined) this.#leases.ack(job, end.bytes, this.#answered, end);
    else this.#leases.nack(job, failure, this.#answered, end);
  }

  readonly #answered = (job: Delivery, refusal: ErrorJson | undefined, end: RunEnd): void => {
    if (refusal !== undefined) this.#refused(job, end, refusal);
    else this.#tellEnd(job as WorkJob<Payload>, end);
    // There may be room again, when too many ends were not confirmed.
    this.#refill();
    if (this.#slots.busy === 0 && this.#leases.unconfirmed === 0) {
      if (hears(this, "idle")) this.#emit("idle", { worker: this.name });
    }
  };

  #tellEnd(job: WorkJob<Payload>, { result, error, failure }: RunEnd): void {
    if (failure === undefined) {
      if (hears(this, "finished")) this.#emit("finished", { job, result: result as Result });
    } else if (willRetry(failure, job.attempt, job.attempts)) {
      this.#emit("retried", { job, error });
    } else {
      this.#emit("failed", { job, error });
    }
  }

  #refused(job: Delivery, end: RunEnd, refusal: ErrorJson): void {
    const error = SluiceError.fromJSON(refusal);
    if (isLosing(refusal)) {
      this.#emit("lease-lost", { job: job as WorkJob<Payload>, error });
      return;
    }
    this.#tellError(error);
    if (error.isRetryable || error.status >= 500) return;
    // What is wrong with a result is wrong each time; a failure may be said in plainer words.
    const failure =
      end.failure === undefined
        ? { error: textOf(error), unrecoverable: true }
        : plainly(end.failure, refusal);
    const failed = { ...end, result: undefined, error: end.error ?? error, failure };
    const answered = (_: Delivery, again: ErrorJson | undefined): void => {
      if (again === undefined) this.#tellEnd(job as WorkJob<Payload>, failed);
    };
    this.#leases.failRefused(job, failure, answered, undefined);
  }

  #lost(job: Delivery, error: SluiceError): void {
    this.#ready = this.#ready.filter((one) => one !== job);
    this.#emit("lease-lost", { job: job as WorkJob<Payload>, error });
    this.#refill();
    this.#look();
  }

  /** Only a worker that closes waits for something. */
  #look(): void {
    if (this.#state !== "running") this.#watch.look();
  }

  #giveBack(job: Delivery): void {
    this.#leases.giveBack(job, (_, error) => {
      if (error !== undefined && !isLosing(error)) this.#tellError(SluiceError.fromJSON(error));
    });
  }

  #refill(): void {
    if (this.#state !== "running" || this.#leases.unconfirmed >= UNCONFIRMED_MAX) return;
    const wanted = this.#places - this.#started - this.#ready.length - this.#credits;
    if (wanted <= 0) return;
    this.#credits += wanted;
    this.#addCredits(wanted);
  }

  /** Jobs that may be here at once. */
  get #places(): number {
    return this.#slots.count * (this.#batching?.max ?? 1) + this.#options.work.prefetch;
  }

  async #close(): Promise<void> {
    this.#state = "closing";
    this.#slots.stop();
    this.#batching?.stop();
    for (const job of this.#ready.splice(0)) this.#giveBack(job);
    const { connection } = this.#options;
    const silence = await connection.lastAnswer(this.#stopConsumer(), this.#grace.answerMs);
    if (silence !== undefined) this.#tellError(silence);
    await this.#watch.until(() => this.#grace.isOver || this.#slots.busy === 0);
    this.#grace.end();
    for (const job of this.#leases.held) {
      // The signal of one may have ended another.
      if (job.state !== "held") continue;
      job.abort(new SluiceError("ABORTED", `worker ${this.name} was closed`));
      this.#giveBack(job);
    }
    this.#leases.flush();
    if (silence === undefined) await this.#confirmed();
    this.#leases.stop();
    this.#state = "closed";
    this.#release();
    connection.holders.delete(this);
    this.#emit("closed", { worker: this.name });
  }

  async #stopConsumer(): Promise<void> {
    const consumer = await this.#consumer;
    await consumer?.stop().catch((error) => {
      if (this.#state !== "closed") this.#tellError(error);
    });
  }

  async #confirmed(): Promise<void> {
    const confirmed = this.#watch.until(() => this.#leases.unconfirmed === 0);
    const { answerMs } = this.#grace;
    const silence = await this.#options.connection.lastAnswer(confirmed, answerMs);
    if (silence !== undefined) this.#tellError(silence);
  }

  #tellError(thrown: unknown): void {
    this.#emit("error", { error: toError(thrown), worker: this.name });
  }

  #emit<N extends keyof WorkEvents<Payload, Result>>(
    name: N,
    event: WorkEvents<Payload, Result>[N],
  ): void {
    emit<WorkEvents<Payload, Result>, N>(this, name, event);
  }
}

/**
 * Jobs one by one for a `for await` loop. At most `prefetch` are held at once: each makes room for
 * the next when it is acked, nacked, given back or lost. Heartbeats keep all of them, taken or not.
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
import { Grace, keepAlive, Watch } from "./closing.ts";
import type { Connection, Holder } from "./connection.ts";
import type { ConsumedJob, Delivery } from "./delivery.ts";
import { type Emitter, emit } from "./emitter.ts";
import { textOf } from "./errors.ts";
import type { WorkEvents } from "./events.ts";
import { Leases } from "./leases.ts";
import { openPayload } from "./payload.ts";
import type { LocalOptions } from "./queue-options.ts";

type Events = WorkEvents<never, never>;

export interface ConsumptionOptions {
  readonly connection: Connection;
  readonly queue: string;
  readonly name: string;
  readonly local: LocalOptions;
  readonly work: Omit<Work, "concurrency">;
  readonly above: Emitter<Events>;
}

/**
 * Leaving a `for await` loop, by `break`, `return` or a throw, stops the flow and gives back the
 * jobs that were not taken: no attempt is lost. The job in hand is the one that the loop's body was
 * given last. If the body has not ended it, it has failed: it is nacked at once, which counts an
 * attempt, because a job whose body throws each time must not come back without end. To leave on
 * purpose, ack, nack or give back the job first. Jobs that were taken before it stay with the code
 * that took them, which has to end them before everything is closed. So do all jobs when the loop
 * ends because of `return()` or `close()`.
 */
export class Consumption<Payload, Result>
  implements AsyncIterableIterator<ConsumedJob<Payload, Result>, undefined>, Holder, AsyncDisposable
{
  readonly #options: ConsumptionOptions;
  readonly #leases: Leases;
  readonly #release = keepAlive();
  readonly #watch = new Watch();
  readonly #grace: Grace;
  readonly #consumer: Promise<Consumer | undefined>;
  #ready: Delivery[] = [];
  /** What the broker may still send. */
  #credits: number;
  #addCredits: (count: number) => void = () => {};
  #isOver = false;
  /** The broker did not answer when this was to stop. */
  #isSilent = false;
  #failure: unknown;
  #stopping: Promise<void> | undefined = undefined;

  /** Users call `queue.consume`. @internal */
  constructor(options: ConsumptionOptions) {
    this.#options = options;
    const { port, clock, inProcess } = options.connection;
    this.#leases = new Leases({
      port,
      clock,
      inProcess,
      result: options.local.result,
      onSent: () => this.#refill(),
      onAnswered: () => this.#watch.look(),
      onLost: (job, error) => this.#lost(job, error),
      onError: (error) => this.#tellError(error),
    });
    this.#grace = new Grace(options.connection, () => this.#watch.look());
    this.#credits = options.work.prefetch;
    this.#consumer = this.#consume();
  }

  /** For a loop: unlike the calls below, leaving it fails the job in hand. */
  [Symbol.asyncIterator](): AsyncIterableIterator<ConsumedJob<Payload, Result>, undefined> {
    return new Loop(this, (job) => this.#drop(job as Delivery));
  }

  /** The next job. The caller that takes it must also end it. */
  async next(): Promise<IteratorResult<ConsumedJob<Payload, Result>, undefined>> {
    for (;;) {
      const job = this.#ready.shift();
      if (job !== undefined) return { done: false, value: job as ConsumedJob<Payload, Result> };
      if (this.#isOver) return this.#last();
      await this.#watch.until(() => this.#isOver || this.#ready.length > 0);
    }
  }

  /** No more jobs come, and those not taken go back; taken ones stay with their takers. */
  async return(): Promise<IteratorResult<ConsumedJob<Payload, Result>, undefined>> {
    this.#stopping ??= this.#stop();
    await this.#stopping;
    return { done: true, value: undefined };
  }

  /** Leaves the loop; jobs that were taken may be ended until the timeout, then they go back. */
  async close(options: CloseOptions = {}): Promise<void> {
    this.#grace.give(parseClose(options));
    await this.return();
    await this.#watch.until(() => this.#grace.isOver || this.#leases.size === 0);
    this.#grace.end();
    for (const job of this.#leases.held) {
      // The signal of one may have ended another.
      if (job.state !== "held") continue;
      job.abort(new SluiceError("ABORTED", `consumer ${this.#options.name} was closed`));
      this.#giveBack(job);
    }
    this.#leases.flush();
    const confirmed = this.#watch.until(() => this.#leases.unconfirmed === 0);
    if (!this.#isSilent) await this.#inTime(confirmed);
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
    if (queue === this.#options.queue) this.#leases.beatNow();
  }

  async #consume(): Promise<Consumer | undefined> {
    const { connection, queue, name, work } = this.#options;
    try {
      const { prefetch: credits, leaseMs: lease } = work;
      const { inProcess, place } = connection;
      const options = { worker: name, credits, lease, inProcess, place };
      const deliver = (jobs: readonly LeasedJob[]): void => this.#receive(jobs);
      const consumer = await connection.port.consume(queue, options, deliver);
      this.#addCredits = (count) => consumer.addCredits(count);
      void consumer.over.then(() => this.return());
      this.#refill();
      return consumer;
    } catch (error) {
      this.#failure = error;
      queueMicrotask(() => void this.return());
      return undefined;
    }
  }

  async #stop(): Promise<void> {
    this.#isOver = true;
    for (const job of this.#ready.splice(0)) this.#giveBack(job);
    this.#watch.look();
    await this.#inTime(this.#stopConsumer());
    this.#leases.flush();
    void this.#letGo();
  }

  async #stopConsumer(): Promise<void> {
    const consumer = await this.#consumer;
    await consumer?.stop().catch((error) => {
      if (!this.#isSilent) this.#tellError(error);
    });
  }

  /** A broker that has not answered once is not waited for again. */
  async #inTime(answer: Promise<void>): Promise<void> {
    const { answerMs } = this.#grace;
    const silence = await this.#options.connection.lastAnswer(answer, answerMs);
    if (silence === undefined) return;
    this.#isSilent = true;
    this.#tellError(silence);
  }

  /** What keeps this alive ends with the last job that is held. */
  async #letGo(): Promise<void> {
    await this.#watch.until(() => this.#leases.size === 0 && this.#leases.unconfirmed === 0);
    this.#leases.stop();
    this.#release();
    this.#options.connection.holders.delete(this);
  }

  /** The loop ends; it throws when there never was anything to consume. */
  #last(): IteratorResult<never, undefined> {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
    return { done: true, value: undefined };
  }

  #receive(jobs: readonly LeasedJob[]): void {
    this.#credits -= jobs.length;
    for (const job of this.#leases.take(jobs)) void this.#open(job);
  }

  /** Makes a job ready; one that does not match its schema fails without being seen. */
  async #open(job: Delivery): Promise<void> {
    try {
      const payload = openPayload(this.#options.local, job.payload as Uint8Array);
      job.payload = payload instanceof Promise ? await payload : payload;
    } catch (error) {
      return this.#mismatched(job, error);
    }
    if (this.#isOver) this.#giveBack(job);
    else if (job.state === "held") this.#ready.push(job);
    this.#watch.look();
  }

  #mismatched(job: Delivery, error: unknown): void {
    const failure = { error: textOf(error), unrecoverable: true };
    const answered = (_: Delivery, refusal: ErrorJson | undefined): void => {
      if (refusal === undefined) this.#tell("failed", { job: job as never, error });
      else this.#answered(refusal);
    };
    this.#leases.nack(job, failure, answered, undefined);
  }

  #giveBack(job: Delivery): void {
    this.#leases.giveBack(job, (_, refusal) => this.#answered(refusal));
  }

  /** The body of the loop was left without a word about its job. */
  #drop(job: Delivery): void {
    if (job.state !== "held") return;
    job.abort(
      new SluiceError("ABORTED", `the loop ended before job ${job.id} was acked or nacked`),
    );
    this.#leases.nack(job, { error: LEFT }, (_, refusal) => this.#answered(refusal), undefined);
  }

  #answered(refusal: ErrorJson | undefined): void {
    if (refusal === undefined || isLosing(refusal)) return;
    this.#tellError(SluiceError.fromJSON(refusal));
  }

  #tellError(error: SluiceError): void {
    this.#tell("error", { error, worker: this.#options.name });
  }

  #lost(job: Delivery, error: SluiceError): void {
    this.#ready = this.#ready.filter((one) => one !== job);
    this.#tell("lease-lost", { job: job as never, error });
    this.#refill();
    this.#watch.look();
  }

  #refill(): void {
    const wanted = this.#options.work.prefetch - this.#leases.size - this.#credits;
    if (wanted <= 0 || this.#isOver) return;
    this.#credits += wanted;
    this.#addCredits(wanted);
  }

  #tell<N extends keyof Events>(name: N, event: Events[N]): void {
    emit<Events, N>(this.#options.above, name, event);
  }
}

/** The error of a job whose loop was left. The iterator does not learn what the body threw. */
const LEFT = "the consuming loop was left before the job was ended";

/** One `for await` loop. It knows which job its body was given last. */
class Loop<Job> implements AsyncIterableIterator<Job, undefined> {
  readonly #jobs: AsyncIterator<Job, undefined>;
  readonly #drop: (job: Job) => void;
  #inHand: Job | undefined = undefined;

  constructor(jobs: AsyncIterator<Job, undefined>, drop: (job: Job) => void) {
    this.#jobs = jobs;
    this.#drop = drop;
  }

  async next(): Promise<IteratorResult<Job, undefined>> {
    this.#inHand = undefined;
    const next = await this.#jobs.next();
    if (next.done !== true) this.#inHand = next.value;
    return next;
  }

  async return(): Promise<IteratorResult<Job, undefined>> {
    if (this.#inHand !== undefined) this.#drop(this.#inHand);
    await this.#jobs.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

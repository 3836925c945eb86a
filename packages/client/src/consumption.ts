/**
 * Jobs one by one for a `for await` loop. At most `prefetch` are held at once: each makes room for
 * the next when it is acked, nacked, given back or lost. Heartbeats keep all of them, taken or not.
 *
 * Leaving the loop stops the flow and gives back what was not taken. A job that was taken stays
 * with its taker, who ends it, until everything is closed.
 */
import { type Consumer, type ErrorJson, type LeasedJob, SluiceError } from "@sluice/protocol";
import type { Connection, Holder } from "./connection.ts";
import type { ConsumedJob, Delivery } from "./delivery.ts";
import { type Emitter, emit } from "./emitter.ts";
import { textOf } from "./errors.ts";
import type { WorkEvents } from "./events.ts";
import { keepAlive } from "./keep-alive.ts";
import { isLosing, Leases } from "./leases.ts";
import type { LocalOptions } from "./parse-queue.ts";
import { type CloseOptions, parseClose, type Work } from "./parse-work.ts";
import { openPayload } from "./payload.ts";
import { Watch } from "./watch.ts";

type Events = WorkEvents<never, never>;

export interface ConsumptionOptions {
  readonly connection: Connection;
  readonly queue: string;
  readonly name: string;
  readonly local: LocalOptions;
  readonly work: Omit<Work, "elastic">;
  readonly above: Emitter<Events>;
}

export class Consumption<Payload, Result>
  implements AsyncIterableIterator<ConsumedJob<Payload, Result>>, Holder, AsyncDisposable
{
  readonly #options: ConsumptionOptions;
  readonly #leases: Leases;
  readonly #release = keepAlive();
  readonly #watch = new Watch();
  readonly #consumer: Promise<Consumer | undefined>;
  #ready: Delivery[] = [];
  /** What the broker may still send. */
  #credits: number;
  #addCredits: (count: number) => void = () => {};
  #isOver = false;
  #failure: unknown;
  #stopping: Promise<void> | undefined = undefined;

  /** Users call `queue.consume`. */
  constructor(options: ConsumptionOptions) {
    this.#options = options;
    const { port, clock } = options.connection;
    this.#leases = new Leases({
      port,
      clock,
      onSent: () => this.#refill(),
      onAnswered: () => this.#watch.look(),
      onLost: (job, error) => this.#lost(job, error),
      onError: (error) => this.#tell("error", { error, worker: options.name }),
    });
    this.#credits = options.work.prefetch;
    this.#consumer = this.#consume();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<ConsumedJob<Payload, Result>, undefined>> {
    for (;;) {
      const job = this.#ready.shift();
      if (job !== undefined) return { done: false, value: job as ConsumedJob<Payload, Result> };
      if (this.#isOver) return this.#last();
      await this.#watch.until(() => this.#isOver || this.#ready.length > 0);
    }
  }

  /** The loop is left: no more jobs come, and those not taken go back. */
  async return(): Promise<IteratorResult<ConsumedJob<Payload, Result>, undefined>> {
    this.#stopping ??= this.#stop();
    await this.#stopping;
    return { done: true, value: undefined };
  }

  /** Leaves the loop; jobs that were taken may be ended until the timeout, then they go back. */
  async close(options: CloseOptions = {}): Promise<void> {
    const timeoutMs = parseClose(options);
    await this.return();
    let isOverdue = false;
    const timer = this.#options.connection.graceOver(timeoutMs, () => {
      isOverdue = true;
      this.#watch.look();
    });
    await this.#watch.until(() => isOverdue || this.#leases.size === 0);
    timer.cancel();
    for (const job of this.#leases.held) {
      job.abort(new SluiceError("ABORTED", `consumer ${this.#options.name} was closed`));
      this.#giveBack(job);
    }
    this.#leases.flush();
    await this.#watch.until(() => this.#leases.unconfirmed === 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  jobCancelled(id: string): void {
    for (const job of this.#leases.held) {
      if (job.id !== id) continue;
      this.#leases.lose(job, new SluiceError("LEASE_LOST", `job ${id} was cancelled`, { id }));
    }
  }

  async #consume(): Promise<Consumer | undefined> {
    const { connection, queue, name, work } = this.#options;
    try {
      const options = { worker: name, credits: work.prefetch, leaseMs: work.leaseMs };
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
    const consumer = await this.#consumer;
    const { name } = this.#options;
    await consumer?.stop().catch((error) => this.#tell("error", { error, worker: name }));
    this.#leases.flush();
    void this.#letGo();
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
    this.#leases.nack(job, { error: textOf(error), unrecoverable: true }, (_, refusal) => {
      if (refusal === undefined) this.#tell("failed", { job: job as never, error });
      else this.#answered(refusal);
    });
  }

  #giveBack(job: Delivery): void {
    this.#leases.giveBack(job, (_, refusal) => this.#answered(refusal));
  }

  #answered(refusal: ErrorJson | undefined): void {
    if (refusal === undefined || isLosing(refusal)) return;
    const { name } = this.#options;
    this.#tell("error", { error: SluiceError.fromJSON(refusal), worker: name });
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

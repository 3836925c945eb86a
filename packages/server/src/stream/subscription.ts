/**
 * One consumer of a session.
 *
 * The client's credits are not all the broker's: they are passed on in windows, as many as the
 * socket has room for, so that a client that grants a hundred thousand and reads slowly fills
 * neither its socket's buffer nor this process. What it has received makes room for the next.
 *
 * While the connection is away the broker knows nothing of the consumer: no job goes to a worker
 * that may never return. It joins again when the session continues, with the credits it still has.
 */
import type { Broker, ConsumeOptions, Consumer, LeasedJob } from "@sluice/protocol";
import {
  BUFFERED_BYTES_MAX,
  CREDITS_MAX,
  WINDOW_BYTES,
  WINDOW_JOBS_FIRST,
  WINDOW_JOBS_MAX,
} from "../limits.ts";

export interface SubscriptionParts {
  readonly broker: Broker;
  readonly queue: string;
  readonly options: ConsumeOptions;
  readonly deliver: (jobs: LeasedJob[]) => void;
  /** The broker has ended it. */
  readonly onOver: () => void;
  /** Bytes on their way to the client. */
  readonly bufferedBytes: () => number;
}

/** What the headers and the numbers of a job take beside its payload. */
const JOB_BYTES = 64;

export class Subscription {
  readonly #parts: SubscriptionParts;
  #consumer: Consumer | undefined = undefined;
  /** What the client may still be sent, and what of that the broker knows of. */
  #credits: number;
  #passed = 0;
  /** The usual size of a job, as far as it has been seen. */
  #jobBytes = WINDOW_BYTES / WINDOW_JOBS_FIRST;
  /** Joins that are over are not listened to any more. */
  #join = 0;
  #isStopped = false;

  constructor(parts: SubscriptionParts) {
    this.#parts = parts;
    this.#credits = parts.options.credits;
  }

  /** Rejects when the broker refuses the consumer. */
  async join(): Promise<void> {
    const { broker, queue, options, onOver } = this.#parts;
    const join = ++this.#join;
    const credits = Math.min(this.#credits, this.#window());
    // A number that cannot be is passed on as it is, for the broker to refuse.
    this.#passed = Number.isInteger(credits) ? credits : this.#credits;
    const consumer = await broker.consume(queue, { ...options, credits: this.#passed }, (jobs) => {
      this.#receive(jobs);
    });
    if (join !== this.#join || this.#isStopped) return consumer.stop();
    this.#consumer = consumer;
    void consumer.over.then(() => {
      if (join === this.#join && !this.#isStopped) onOver();
    });
    this.refill();
  }

  /** The connection is away: what is on its way goes back, what is held stays. */
  pause(): void {
    this.#join++;
    this.#passed = 0;
    void this.#consumer?.stop().catch(() => {});
    this.#consumer = undefined;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#consumer?.stop();
  }

  addCredits(count: number): void {
    if (!Number.isInteger(count) || count < 0) return;
    this.#credits = Math.min(CREDITS_MAX, this.#credits + count);
    this.refill();
  }

  /** Lets more jobs come when there is room for them. */
  refill(): void {
    if (this.#consumer === undefined) return;
    const room = Math.min(this.#credits, this.#window()) - this.#passed;
    if (room <= 0) return;
    this.#passed += room;
    this.#consumer.addCredits(room);
  }

  #receive(jobs: LeasedJob[]): void {
    this.#credits -= jobs.length;
    this.#passed -= jobs.length;
    let bytes = 0;
    for (const { payload } of jobs) bytes += payload.length + JOB_BYTES;
    // Follows the size of jobs, and large ones faster than small ones.
    const each = bytes / jobs.length;
    this.#jobBytes += (each - this.#jobBytes) / (each > this.#jobBytes ? 1 : 4);
    this.#parts.deliver(jobs);
    this.refill();
  }

  #window(): number {
    if (this.#parts.bufferedBytes() >= BUFFERED_BYTES_MAX) return 0;
    const jobs = Math.floor(WINDOW_BYTES / this.#jobBytes);
    return Math.max(1, Math.min(WINDOW_JOBS_MAX, jobs));
  }
}

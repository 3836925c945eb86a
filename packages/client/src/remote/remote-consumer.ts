import type { ConsumeOptions, Consumer, Deliver, LeasedJob, SluiceError } from "@sluice/protocol";
import { type Channel, KIND, writeConsume } from "@sluice/protocol/wire";

export interface RemoteConsumerParts {
  readonly channel: Channel;
  readonly operation: number;
  readonly queue: string;
  readonly options: ConsumeOptions;
  readonly deliver: Deliver;
  readonly stop: (consumer: RemoteConsumer) => Promise<void>;
}

/** A consumer of a server: it joins again whenever the server has forgotten it. */
export class RemoteConsumer implements Consumer {
  readonly operation: number;
  readonly queue: string;
  readonly over: Promise<void>;
  /** Resolves when the server has taken the consumer in for the first time. */
  readonly joined = Promise.withResolvers<void>();
  readonly #parts: RemoteConsumerParts;
  readonly #end: () => void;
  /** Jobs that may still come. */
  #credits: number;
  #isOver = false;
  #stopping: Promise<void> | undefined = undefined;

  constructor(parts: RemoteConsumerParts) {
    this.#parts = parts;
    this.operation = parts.operation;
    this.queue = parts.queue;
    this.#credits = parts.options.credits;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#end = resolve;
    // The caller of `consume` gets the failure.
    this.joined.promise.catch(() => {});
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  join(): void {
    const { channel, queue, options } = this.#parts;
    channel.frame(KIND.consume, this.operation, (writer) =>
      writeConsume(writer, queue, { ...options, credits: this.#credits }),
    );
  }

  addCredits(count: number): void {
    if (this.#isOver || this.#stopping !== undefined) return;
    this.#credits += count;
    this.#parts.channel.frame(KIND.credits, this.operation, (writer) => writer.f64(count));
  }

  /** False when the consumer does not want them any more: then they must be given back. */
  receive(jobs: LeasedJob[]): boolean {
    if (this.#isOver || this.#stopping !== undefined) return false;
    this.#credits -= jobs.length;
    this.#parts.deliver(jobs);
    return true;
  }

  async stop(): Promise<void> {
    if (this.#isOver) return;
    this.#stopping ??= this.#parts.stop(this);
    await this.#stopping;
  }

  end(error?: SluiceError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (error === undefined) this.joined.resolve();
    else this.joined.reject(error);
    this.#end();
  }
}

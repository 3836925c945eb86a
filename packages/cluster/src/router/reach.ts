/** The partitions, asked one by one or all at once. */
import {
  type Broker,
  type Clock,
  type ErrorCode,
  SluiceError,
  toSluiceError,
} from "@sluice/protocol";
import type { Directory, Partitions } from "../directory.ts";
import { ANSWER_MS, PATIENCE_MS } from "./limits.ts";

export type Answered<T> = { partition: number } & (
  | { value: T; error?: undefined }
  | { value?: undefined; error: SluiceError }
);

export interface ReachOptions {
  readonly directory: Directory;
  readonly partitions: Partitions;
  readonly clock: Clock;
}

export class Reach {
  readonly directory: Directory;
  readonly clock: Clock;
  /** Every partition there is. */
  readonly all: readonly number[];
  readonly #partitions: Partitions;
  #isClosed = false;

  constructor({ directory, partitions, clock }: ReachOptions) {
    this.directory = directory;
    this.clock = clock;
    this.all = Array.from({ length: directory.partitions }, (_, partition) => partition);
    this.#partitions = partitions;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  check(): void {
    if (this.#isClosed) throw new SluiceError("CLOSED", "the connection to the cluster is closed");
  }

  port(partition: number): Broker {
    this.check();
    return this.#partitions.port(partition);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#partitions.close();
  }

  /** A question, which is not waited for without end: nothing is lost when it is asked again. */
  async ask<T>(partition: number, call: (port: Broker) => Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const { clock } = this;
    const timer = clock.at(clock.now() + ANSWER_MS, () => {
      const message = `partition ${partition} has not answered within ${ANSWER_MS} ms`;
      late.reject(new SluiceError("TIMEOUT", message, { partition }));
    });
    timer.unref?.();
    try {
      return await Promise.race([call(this.port(partition)), late.promise]);
    } finally {
      timer.cancel();
    }
  }

  /** What each of them answers, in their order. */
  every<T>(
    partitions: readonly number[],
    call: (port: Broker, partition: number) => Promise<T>,
  ): Promise<Answered<T>[]> {
    return Promise.all(
      partitions.map((partition) =>
        this.ask(partition, (port) => call(port, partition)).then(
          (value): Answered<T> => ({ partition, value }),
          (error): Answered<T> => ({ partition, error: toSluiceError(error) }),
        ),
      ),
    );
  }

  /** The answers of those who know what was asked for; refused when nobody does. */
  async known<T>(
    partitions: readonly number[],
    unknown: readonly ErrorCode[],
    call: (port: Broker, partition: number) => Promise<T>,
  ): Promise<{ partition: number; value: T }[]> {
    const answers = await this.every(partitions, call);
    const known: { partition: number; value: T }[] = [];
    for (const answer of answers) {
      if (answer.error === undefined) known.push(answer);
      else if (!unknown.includes(answer.error.code)) throw answer.error;
    }
    if (known.length > 0) return known;
    // The first code of the list says the most.
    const errors = answers.map(({ error }) => error!);
    throw unknown.flatMap((code) => errors.filter((error) => error.code === code))[0]!;
  }

  /** What should be done, but is not waited for when a partition is away. */
  async briefly(work: Promise<unknown>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { clock } = this;
    const timer = clock.at(clock.now() + PATIENCE_MS, resolve);
    timer.unref?.();
    const done = work.then(
      () => {},
      () => {},
    );
    await Promise.race([done, promise]);
    timer.cancel();
  }
}

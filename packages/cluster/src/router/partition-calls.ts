/** The partitions, asked one by one or all at once. */

import type { Duration } from "@sluice/protocol";
import {
  type Broker,
  type Clock,
  type ErrorCode,
  SluiceError,
  toSluiceError,
} from "@sluice/protocol";
import type { Directory, Partitions } from "../directory.ts";
import { LOOK_MS, QUESTION_MS, REPEAT_MS, REPEATS_MAX, WITHOUT_ONE_MS } from "../limits.ts";
import { closed, makeCall } from "../partitions/make-call.ts";
import { PendingTells } from "./pending-tells.ts";

export type Answered<T> = { partition: number } & (
  | { value: T; error?: undefined }
  | { value?: undefined; error: SluiceError }
);

/** What was seen of all partitions, and which of them were not. */
export interface Seen<T> {
  readonly seen: readonly { partition: number; value: T }[];
  readonly missing: readonly number[];
}

/** No node answers for the partition, which says nothing about the call itself. */
const AWAY: readonly ErrorCode[] = [
  "DISCONNECTED",
  "UNAVAILABLE",
  "TIMEOUT",
  "MOVED",
  "LOG_FAILED",
  "LOG_DAMAGED",
  "LOG_VERSION",
];

/** The call was cut off, or was not sent. */
const CUT_OFF: readonly ErrorCode[] = ["DISCONNECTED", "UNAVAILABLE", "TIMEOUT"];

export interface PartitionCallsOptions {
  readonly directory: Directory;
  readonly partitions: Partitions;
  readonly clock: Clock;
}

export class PartitionCalls {
  readonly directory: Directory;
  readonly clock: Clock;
  #all: readonly number[] = [];
  /** What partitions could not be sent yet. */
  readonly pending: PendingTells;
  readonly #partitions: Partitions;
  /** Partitions that a look has missed and that have not answered one since. */
  readonly #away = new Set<number>();
  #isClosed = false;

  constructor({ directory, partitions, clock }: PartitionCallsOptions) {
    this.directory = directory;
    this.clock = clock;
    this.pending = new PendingTells(clock, () => this.#isClosed);
    this.#partitions = partitions;
  }

  /** Every partition there is. */
  get all(): readonly number[] {
    const { partitions: length } = this.directory;
    if (this.#all.length !== length) this.#all = Array.from({ length }, (_, i) => i);
    return this.#all;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  check(): void {
    if (this.#isClosed) throw closed();
  }

  isThere(partition: number): boolean {
    return partition >= 0 && partition < this.all.length;
  }

  /** Where a call is made now. Use `make` for the call itself: the partition may move meanwhile. */
  port(partition: number): Broker {
    this.check();
    return this.#partitions.port(partition);
  }

  /** Makes a call, however long it takes, and again when the partition moves. */
  make<T>(partition: number, call: (port: Broker) => Promise<T>): Promise<T> {
    return makeCall(this, partition, call);
  }

  async close(options?: { timeout?: Duration | undefined }): Promise<void> {
    this.#isClosed = true;
    await this.#partitions.close(options);
  }

  /** A question, which is not waited for without end: nothing is lost when it is asked again. */
  async ask<T>(partition: number, call: (port: Broker) => Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const { clock } = this;
    const timer = clock.at(clock.now() + QUESTION_MS, () => {
      const message = `partition ${partition} has not answered within ${QUESTION_MS} ms`;
      late.reject(new SluiceError("TIMEOUT", message, { partition }));
    });
    timer.unref?.();
    try {
      return await Promise.race([this.make(partition, call), late.promise]);
    } finally {
      timer.cancel();
    }
  }

  /**
   * A call that does no harm when it is made twice: made again when it was cut off, though never
   * without a pause, so that whatever brings the partition back can run.
   */
  async again<T>(call: () => Promise<T>): Promise<T> {
    const { clock } = this;
    for (let tries = 1; ; tries++) {
      try {
        return await call();
      } catch (error) {
        const isCutOff = CUT_OFF.includes(toSluiceError(error).code);
        if (!isCutOff || tries >= REPEATS_MAX || this.#isClosed) throw error;
      }
      await new Promise<void>((resolve) => clock.at(clock.now() + REPEAT_MS, resolve));
    }
  }

  /**
   * Sends partitions a call that does no harm when it is repeated. Refused when it did not reach
   * one. That one is called later: `pending` has, by name, how to.
   */
  async tell(
    partitions: readonly number[],
    call: (port: Broker) => Promise<unknown>,
    pending: readonly (readonly [string, (partition: number) => Promise<void>])[],
  ): Promise<void> {
    const answers = await this.every(partitions, (port) => this.again(() => call(port)));
    const late = answers.filter(isAway);
    for (const { partition } of late) {
      for (const [name, tell] of pending) this.pending.keep(partition, name, () => tell(partition));
    }
    const refused = answers.find(({ error }) => error !== undefined);
    if (refused !== undefined) throw ofAll(refused.error!, answers);
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

  /** The answers of the partitions that know what was asked for. Refused when none does. */
  async known<T>(
    partitions: readonly number[],
    unknown: readonly ErrorCode[],
    call: (port: Broker, partition: number) => Promise<T>,
  ): Promise<{ partition: number; value: T }[]> {
    const answers = await this.every(partitions, call);
    const known: { partition: number; value: T }[] = [];
    for (const answer of answers) {
      if (answer.error === undefined) known.push(answer);
      else if (!unknown.includes(answer.error.code)) throw ofAll(answer.error, answers);
    }
    if (known.length > 0) return known;
    // The first code of the list says the most.
    const errors = answers.map(({ error }) => error!);
    throw unknown.flatMap((code) => errors.filter((error) => error.code === code))[0]!;
  }

  /**
   * The answers of the partitions that are there. The others are named and not waited for: people
   * look at a cluster precisely when a part of it is away. The next look does not wait for a missed
   * partition either, until it has answered one. Refused when no partition answers at all.
   */
  async look<T>(
    partitions: readonly number[],
    unknown: readonly ErrorCode[],
    call: (port: Broker, partition: number) => Promise<T>,
  ): Promise<Seen<T>> {
    const answers = new Map<number, Answered<T>>();
    const expected = new Set(partitions.filter((partition) => !this.#away.has(partition)));
    const first = Promise.withResolvers<void>();
    const enough = Promise.withResolvers<void>();
    const all = partitions.map(async (partition) => {
      const [answer] = await this.every([partition], call);
      answers.set(partition, answer!);
      expected.delete(partition);
      if (expected.size === 0) enough.resolve();
      if (isAway(answer!)) return;
      this.#away.delete(partition);
      first.resolve();
    });
    const { clock } = this;
    const timer = clock.at(clock.now() + LOOK_MS, enough.resolve);
    timer.unref?.();
    await Promise.race([Promise.all(all), Promise.all([first.promise, enough.promise])]);
    timer.cancel();
    return this.#sort(partitions, answers, unknown);
  }

  /** What one of them says, if it does so within the time of a look. */
  async glance<T>(partition: number, call: (port: Broker) => Promise<T>): Promise<T | undefined> {
    if (this.#away.has(partition)) return undefined;
    const late = Promise.withResolvers<undefined>();
    const { clock } = this;
    const timer = clock.at(clock.now() + LOOK_MS, () => late.resolve(undefined));
    timer.unref?.();
    const [answer] = (await Promise.race([this.every([partition], call), late.promise])) ?? [];
    timer.cancel();
    if (answer === undefined || isAway(answer)) return undefined;
    if (answer.error !== undefined) throw answer.error;
    return answer.value;
  }

  #sort<T>(
    partitions: readonly number[],
    answers: ReadonlyMap<number, Answered<T>>,
    unknown: readonly ErrorCode[],
  ): Seen<T> {
    const seen: { partition: number; value: T }[] = [];
    const missing: number[] = [];
    const errors: SluiceError[] = [];
    for (const partition of partitions) {
      const answer = answers.get(partition);
      if (answer === undefined || isAway(answer)) missing.push(partition);
      else if (answer.error === undefined) seen.push(answer);
      else if (!unknown.includes(answer.error.code)) throw answer.error;
      if (answer?.error !== undefined) errors.push(answer.error);
    }
    for (const partition of missing) this.#away.add(partition);
    if (seen.length > 0 || errors.length === 0) return { seen, missing };
    // What the others do not know may be known to the one that could not be asked.
    throw errors.find(({ code }) => AWAY.includes(code)) ?? errors[0]!;
  }

  /** What should be done, but is not waited for when a partition is away. */
  async briefly(work: Promise<unknown>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { clock } = this;
    const timer = clock.at(clock.now() + WITHOUT_ONE_MS, resolve);
    timer.unref?.();
    const done = work.then(
      () => {},
      () => {},
    );
    await Promise.race([done, promise]);
    timer.cancel();
  }
}

/** What was not sent to one partition may have taken effect in another. */
function ofAll(error: SluiceError, answers: readonly Answered<unknown>[]): SluiceError {
  const isUnsent = answers.every((answer) => answer.error?.code === "UNAVAILABLE");
  if (isUnsent || error.code !== "UNAVAILABLE") return error;
  const message = `not every partition was reached: ${error.message}`;
  return new SluiceError("TIMEOUT", message, error.details, { cause: error });
}

function isAway({ error }: Answered<unknown>): boolean {
  return error !== undefined && AWAY.includes(error.code);
}

/** For answers that say what is not in them. */
export function missingOf({ missing }: Pick<Seen<unknown>, "missing">): {
  missing?: readonly number[];
} {
  return missing.length === 0 ? {} : { missing };
}

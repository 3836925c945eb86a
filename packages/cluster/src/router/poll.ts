/** Takes jobs of a queue that several partitions hold, never more than were asked for. */
import {
  aborted,
  CREDITS_MAX,
  checkInteger,
  checkSignal,
  type LeasedJob,
  type LeaseOptions,
  type SluiceError,
  toSluiceError,
  WAIT,
} from "@sluice/protocol";
import { WITHOUT_ONE_MS } from "../limits.ts";
import { partitionOf } from "../partition-port/names.ts";
import type { PartitionCalls } from "./partition-calls.ts";
import { isNotFound } from "./queue-copies.ts";

interface Taken {
  readonly partition: number;
  readonly asked: number;
  readonly jobs: readonly LeasedJob[];
  readonly error?: SluiceError;
}

export class Poll {
  readonly #calls: PartitionCalls;
  /** Who is asked first: each in turn. */
  #turn = 0;

  constructor(calls: PartitionCalls) {
    this.#calls = calls;
  }

  /**
   * First all partitions are asked for what is there now, each for a part of the jobs, so that no
   * surplus is dispatched. Only if none has a job do all wait at the same time. Surplus jobs then
   * go back.
   */
  async lease(
    queue: string,
    placement: readonly number[],
    options: LeaseOptions,
  ): Promise<LeasedJob[]> {
    const { max, wait = 0, signal } = options;
    checkInteger("max", max, 1, CREDITS_MAX);
    const waitMs = WAIT.parse("wait", wait);
    checkSignal(signal);
    const from = this.#turn++ % placement.length;
    const order = [...placement.slice(from), ...placement.slice(0, from)];
    const ready = await this.#takeReady(queue, order, options);
    if (signal?.aborted === true) {
      for (const job of ready) this.#giveBack(partitionOf(job.lease), [job]);
      throw aborted(signal);
    }
    if (ready.length > 0 || waitMs === 0) return ready;
    return this.#wait(queue, order, options);
  }

  async #takeReady(
    queue: string,
    order: readonly number[],
    options: LeaseOptions,
  ): Promise<LeasedJob[]> {
    const { max } = options;
    const now = { ...options, wait: 0 };
    const parts = order.map((partition, i) => ({
      partition,
      asked: Math.floor((max + order.length - 1 - i) / order.length),
    }));
    const asked = parts.filter(({ asked: count }) => count > 0);
    const taken = await Promise.all(
      asked.map((part) => this.#take(queue, part.partition, { ...now, max: part.asked })),
    );
    refuseIfAll(taken, order.length);
    const jobs = taken.flatMap((one) => one.jobs);
    // Those that gave all they were asked for may have more; the others have nothing left.
    const more = [
      ...parts.filter(({ asked: count }) => count === 0).map(({ partition }) => partition),
      ...taken.filter((one) => one.jobs.length === one.asked).map(({ partition }) => partition),
    ];
    const errors = taken.filter(({ error }) => error !== undefined);
    for (const partition of more) {
      if (jobs.length >= max || options.signal?.aborted === true) break;
      const one = await this.#take(queue, partition, { ...now, max: max - jobs.length });
      if (one.error !== undefined) errors.push(one);
      jobs.push(...one.jobs);
    }
    refuseIfAll(errors, order.length);
    return jobs;
  }

  /** One that does not answer is done without; what it has taken goes back when it comes. */
  async #take(queue: string, partition: number, options: LeaseOptions): Promise<Taken> {
    const { clock } = this.#calls;
    const asked = options.max;
    const late = Promise.withResolvers<undefined>();
    const timer = clock.at(clock.now() + WITHOUT_ONE_MS, () => late.resolve(undefined));
    timer.unref?.();
    try {
      const call = this.#calls.make(partition, (port) => port.lease(queue, options));
      const jobs = await Promise.race([call, late.promise]);
      if (jobs !== undefined) return { partition, asked, jobs };
      call.then(
        (tooLate) => this.#giveBack(partition, tooLate),
        () => {},
      );
      return { partition, asked, jobs: [] };
    } catch (error) {
      return { partition, asked, jobs: [], error: toSluiceError(error) };
    } finally {
      timer.cancel();
    }
  }

  async #wait(
    queue: string,
    order: readonly number[],
    options: LeaseOptions,
  ): Promise<LeasedJob[]> {
    const { signal, max } = options;
    const over = new AbortController();
    const giveUp = (): void => over.abort();
    signal?.addEventListener("abort", giveUp, { once: true });
    const jobs: LeasedJob[] = [];
    const first = Promise.withResolvers<void>();
    let isOver = false;
    const polls = order.map(async (partition) => {
      const some = await this.#calls.make(partition, (port) =>
        port.lease(queue, { ...options, signal: over.signal }),
      );
      const wanted = isOver ? 0 : max - jobs.length;
      jobs.push(...some.slice(0, wanted));
      this.#giveBack(partition, some.slice(wanted));
      if (jobs.length > 0) first.resolve();
    });
    try {
      const answers = Promise.allSettled(polls);
      await Promise.race([answers, first.promise]);
      checkSignal(signal);
      if (jobs.length === 0) refuseIfNobody(await answers);
      return jobs;
    } finally {
      isOver = true;
      over.abort();
      signal?.removeEventListener("abort", giveUp);
    }
  }

  #giveBack(partition: number, jobs: readonly LeasedJob[]): void {
    if (jobs.length === 0 || this.#calls.isClosed) return;
    const leases = jobs.map(({ lease }) => lease);
    this.#calls.make(partition, (port) => port.giveBack(leases)).catch(() => {});
  }
}

/** A queue that no partition has, or that none can say anything about. */
function refuseIfAll(taken: readonly Taken[], partitions: number): void {
  const errors = taken.flatMap(({ error }) => (error === undefined ? [] : [error]));
  if (errors.length < partitions) return;
  throw errors.find((error) => !isNotFound(error)) ?? errors[0]!;
}

function refuseIfNobody(answers: readonly PromiseSettledResult<void>[]): void {
  const refused = answers.filter((answer) => answer.status === "rejected");
  const reasons = refused.map(({ reason }) => reason);
  if (reasons.length < answers.length) return;
  throw reasons.find((reason) => !isNotFound(reason)) ?? reasons[0];
}

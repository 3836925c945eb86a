/**
 * Gathers what is said one by one into the batches that the port takes. Items of the same turn of
 * the event loop travel together: the batch leaves when a whole round of microtasks has added
 * nothing to it, which costs no timer and works in Node and in browsers alike.
 *
 * Each item has a waiter, which gets the outcome of its own item. When the call as a whole fails,
 * each waiter gets that error.
 */
import {
  type Added,
  type Broker,
  type Duration,
  type ErrorJson,
  type NewJob,
  type OperationOptions,
  type Outcome,
  SluiceError,
  toSluiceError,
} from "@sluice/protocol";
import { BATCH_MAX, UNANSWERED_JOBS_MAX } from "./limits.ts";

/** Waits for one item of a batch. */
export interface Waiter<Ok> {
  done(ok: Ok): void;
  refused(error: ErrorJson): void;
}

export type Send<Item, Ok> = (items: Item[]) => Promise<readonly Outcome<Ok>[]>;

export class Gather<Item, Ok> {
  readonly #send: Send<Item, Ok>;
  #items: Item[] = [];
  #waiters: Waiter<Ok>[] = [];
  #seen = 0;
  #inFlight = 0;

  constructor(send: Send<Item, Ok>) {
    this.#send = send;
  }

  add(item: Item, waiter: Waiter<Ok>): void {
    this.#items.push(item);
    this.#waiters.push(waiter);
    if (this.#items.length === 1) queueMicrotask(this.#settle);
    else if (this.#items.length >= BATCH_MAX) this.flush();
  }

  /** The same, with a promise for a caller that wants to wait. */
  ask(item: Item): Promise<Ok> {
    return new Promise((done, reject) => {
      this.add(item, { done, refused: (error) => reject(SluiceError.fromJSON(error)) });
    });
  }

  /** Items that wait to be sent or to be answered. */
  get size(): number {
    return this.#inFlight + this.#items.length;
  }

  /** Looks again after each round of microtasks, and sends when the batch has stopped growing. */
  readonly #settle = (): void => {
    const { length } = this.#items;
    if (length === 0) return;
    if (length === this.#seen) return this.flush();
    this.#seen = length;
    queueMicrotask(this.#settle);
  };

  flush(): void {
    if (this.#items.length === 0) return;
    const items = this.#items;
    const waiters = this.#waiters;
    this.#items = [];
    this.#waiters = [];
    this.#seen = 0;
    this.#inFlight += items.length;
    void this.#deliver(items, waiters);
  }

  async #deliver(items: Item[], waiters: readonly Waiter<Ok>[]): Promise<void> {
    let outcomes: readonly Outcome<Ok>[];
    try {
      outcomes = await this.#send(items);
    } catch (error) {
      const failure: Outcome<Ok> = { error: toSluiceError(error).toJSON() };
      outcomes = waiters.map(() => failure);
    }
    for (let i = 0; i < waiters.length; i++) {
      this.#inFlight--;
      const { ok, error } = outcomes[i] ?? UNANSWERED;
      if (error === undefined) waiters[i]!.done(ok as Ok);
      else waiters[i]!.refused(error);
    }
  }
}

/** A port that answers fewer items than it was given is broken, but no caller is left waiting. */
const UNANSWERED: { ok?: undefined; error: ErrorJson } = {
  error: { code: "INTERNAL", message: "the broker left this item of the batch unanswered" },
};

/** The answer of a batch of one. */
export async function one<T>(call: Promise<readonly Outcome<T>[]>): Promise<T> {
  const [outcome] = await call;
  if (outcome === undefined) throw new SluiceError("INTERNAL", "the broker did not answer");
  if (outcome.error !== undefined) throw SluiceError.fromJSON(outcome.error);
  return outcome.ok;
}

/** The name of one add of several that were sent in one call; no caller chooses such an id. */
const NAME = /^sluice~(.+)~(\d+)of\d+$/;

function nameOf(operationId: string, index: number, jobs: readonly NewJob[]): string {
  return `sluice~${operationId}~${index}of${jobs.length}`;
}

/** A call of several adds that was not answered in time. */
interface Unanswered {
  readonly jobs: readonly NewJob[];
  /** Its repetitions that are under way, by the time that they were given. */
  readonly repetitions: Map<Duration | undefined, Promise<readonly Outcome<Added>[]>>;
  /** What it was answered when it was repeated. */
  answers?: readonly Outcome<Added>[];
}

/**
 * Adds one by one to one queue. Adds of one turn travel as one call, under one operation id. When
 * that call is sent and not answered in time, each of its adds gets a name of its own: the id of
 * the call with its place in it. Repeating an add by that name repeats the call as it was, so each
 * of its jobs is added at most once, and answers for the one.
 */
export class Adds {
  readonly #port: Broker;
  readonly #queue: string;
  readonly #gather: Gather<NewJob, Added>;
  /** By their operation ids, the oldest first. */
  readonly #unanswered = new Map<string, Unanswered>();
  #unansweredJobs = 0;

  constructor(port: Broker, queue: string) {
    this.#port = port;
    this.#queue = queue;
    this.#gather = new Gather((jobs) => this.#send(jobs));
  }

  add(job: NewJob, waiter: Waiter<Added>): void {
    this.#gather.add(job, waiter);
  }

  /** One add with a time, a signal or a name of its own; it keeps its place behind the others. */
  async alone(job: NewJob, options: OperationOptions): Promise<Added> {
    this.flush();
    const [, operationId, place] = NAME.exec(options.operationId ?? "") ?? [];
    if (operationId === undefined) return one(this.#port.add(this.#queue, [job], options));
    const call = this.#unanswered.get(operationId);
    const index = Number(place);
    if (call === undefined || !isSame(call.jobs[index]?.payload, job.payload)) {
      throw notOurs(options.operationId!);
    }
    const answers = call.answers ?? (await this.#repeat(call, { ...options, operationId }));
    return one(Promise.resolve(answers.slice(index, index + 1)));
  }

  /**
   * Adds that are repeated at the same time share one repetition: otherwise each would send the
   * jobs of all. With a signal of its own an add is repeated by itself.
   */
  #repeat(call: Unanswered, options: OperationOptions): Promise<readonly Outcome<Added>[]> {
    const { signal, timeout } = options;
    if (signal !== undefined) return this.#ask(call, options);
    const underWay = call.repetitions.get(timeout);
    if (underWay !== undefined) return underWay;
    const asked = this.#ask(call, options).finally(() => call.repetitions.delete(timeout));
    call.repetitions.set(timeout, asked);
    return asked;
  }

  async #ask(call: Unanswered, options: OperationOptions): Promise<readonly Outcome<Added>[]> {
    const outcomes = await this.#port.add(this.#queue, call.jobs, options);
    const isFinal = outcomes.every(
      ({ error }) => error === undefined || !SluiceError.fromJSON(error).isRetryable,
    );
    if (isFinal) call.answers = outcomes;
    return outcomes;
  }

  /** Sends what is gathered now. */
  flush(): void {
    this.#gather.flush();
  }

  async #send(jobs: readonly NewJob[]): Promise<readonly Outcome<Added>[]> {
    try {
      const outcomes = await this.#port.add(this.#queue, jobs);
      return jobs.length === 1 ? outcomes : outcomes.map((one, i) => this.#named(one, i, jobs));
    } catch (error) {
      const { operationId } = error instanceof SluiceError ? error.details : {};
      if (jobs.length === 1 || typeof operationId !== "string") throw error;
      this.#keep(operationId, jobs);
      return jobs.map((_, i) => refusalOf(error as SluiceError, nameOf(operationId, i, jobs)));
    }
  }

  /** In a cluster one partition may be late, and the others not. */
  #named(outcome: Outcome<Added>, index: number, jobs: readonly NewJob[]): Outcome<Added> {
    if (outcome.error?.code !== "TIMEOUT") return outcome;
    const error = SluiceError.fromJSON(outcome.error);
    const { operationId } = error.details;
    if (typeof operationId !== "string") return outcome;
    this.#keep(operationId, jobs);
    return refusalOf(error, nameOf(operationId, index, jobs));
  }

  #keep(operationId: string, jobs: readonly NewJob[]): void {
    if (this.#unanswered.has(operationId)) return;
    this.#unanswered.set(operationId, { jobs, repetitions: new Map() });
    this.#unansweredJobs += jobs.length;
    for (const [oldest, call] of this.#unanswered) {
      if (this.#unansweredJobs <= UNANSWERED_JOBS_MAX) return;
      this.#unanswered.delete(oldest);
      this.#unansweredJobs -= call.jobs.length;
    }
  }
}

function refusalOf(error: SluiceError, operationId: string): { error: ErrorJson } {
  const json = error.toJSON();
  return { error: { ...json, details: { ...json.details, operationId } } };
}

function isSame(one: Uint8Array | undefined, other: Uint8Array): boolean {
  return one?.length === other.length && one.every((byte, i) => byte === other[i]);
}

function notOurs(operationId: string): SluiceError {
  const message =
    `operation id "${operationId}" belongs to several adds that were sent together; only the ` +
    "same Sluice can repeat them, with the same payload. Choose an operationId to repeat elsewhere";
  return new SluiceError("CONFLICT", message, { operationId });
}

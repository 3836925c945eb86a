/**
 * Adds one by one to one queue. Adds of one turn travel as one call, under one operation id. When
 * that call is sent and not answered in time, each of its adds gets a name of its own: the id of
 * the call with its place in it. Repeating an add by that name repeats the call as it was, so each
 * of its jobs is added at most once, and answers for the one.
 */
import {
  type Added,
  type Broker,
  type ErrorJson,
  type NewJob,
  type OperationOptions,
  type Outcome,
  SluiceError,
} from "@sluice/protocol";
import { Gather, type Waiter } from "./gather.ts";
import { UNANSWERED_JOBS_MAX } from "./limits.ts";
import { one } from "./one.ts";

/** An id that callers choose does not look like this. */
const NAME = /^sluice~(.+)~(\d+)of\d+$/;

function nameOf(operationId: string, index: number, jobs: readonly NewJob[]): string {
  return `sluice~${operationId}~${index}of${jobs.length}`;
}

/** A call of several adds that was not answered in time. */
interface Unanswered {
  readonly jobs: readonly NewJob[];
  /** Its repetitions that are under way, by the time that they were given. */
  readonly repetitions: Map<number | undefined, Promise<readonly Outcome<Added>[]>>;
  /** What it was answered when it was repeated. */
  answers?: readonly Outcome<Added>[];
}

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
    const { signal, timeoutMs } = options;
    if (signal !== undefined) return this.#ask(call, options);
    const underWay = call.repetitions.get(timeoutMs);
    if (underWay !== undefined) return underWay;
    const asked = this.#ask(call, options).finally(() => call.repetitions.delete(timeoutMs));
    call.repetitions.set(timeoutMs, asked);
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

/** A handle on one queue: adds, workers, and what an operator does. */
import {
  type Added,
  type ConsumptionOptions,
  type ErrorJson,
  type FairnessKey,
  groupName,
  invalid,
  type JobOptions,
  type JobState,
  type LaneStats,
  type NewJob,
  type OperationOptions as PortOptions,
  parseConsume,
  parseWork,
  type QueueDeleted,
  type QueueInfo,
  type QueueStats,
  SluiceError,
  type WorkerInfo,
  type WorkOptions,
  walkPages,
} from "@sluice/protocol";
import { addAll } from "./bulk.ts";
import type { Connection } from "./connection.ts";
import { Consumption } from "./consumption.ts";
import { Emitter } from "./emitter.ts";
import { WORK_EVENTS, type WorkEvents } from "./events.ts";
import type { Waiter } from "./gather.ts";
import { Group } from "./group.ts";
import { type BulkItem, detailsOf, Job, type JobDetails, prepare } from "./job.ts";
import { PAGE_ITEMS } from "./limits.ts";
import {
  type CallOptions,
  type OperationOptions,
  parseCall,
  parseCallWith,
  parseOperation,
} from "./parse-call.ts";
import type { LocalOptions } from "./queue-options.ts";
import type { BatchHandler } from "./run-batch.ts";
import type { Handler } from "./run-job.ts";
import { Worker } from "./worker.ts";

/** `Payload` is what is added, `Output` what handlers get: a schema may make one of the other. */
export class Queue<Payload = unknown, Result = unknown, Output = Payload> extends Emitter<
  WorkEvents<Output, Result>
> {
  readonly name: string;
  readonly #connection: Connection;
  readonly #local: LocalOptions;

  /** Users call `sluice.queue`. @internal */
  constructor(
    connection: Connection,
    { name }: QueueInfo,
    local: LocalOptions,
    above: Emitter<WorkEvents<unknown, unknown>>,
  ) {
    super(WORK_EVENTS, above as unknown as Emitter<WorkEvents<unknown, unknown>>);
    this.name = name;
    this.#connection = connection;
    this.#local = local;
  }

  /**
   * Adds one job; the answer means that it is durable. Adds of one turn travel together, except
   * for those with a signal, a timeout or an operation id of their own.
   */
  add(payload: Payload, options?: JobOptions & OperationOptions): Promise<Job<Output, Result>> {
    try {
      // biome-ignore lint/complexity/noArguments: BullMQ's third argument would have no effect.
      if (arguments.length > 2) throw namedAdd();
      const { said, call } = splitAdd(options);
      const job = prepare(this.#local, payload, said);
      if (!(job instanceof Promise)) return this.#send(job, call);
      return job.then((ready) => this.#send(ready, call));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Adds many; each item is answered with its job, or with the error that refused it. */
  async addBulk(
    items: readonly BulkItem<Payload>[],
    options: OperationOptions = {},
  ): Promise<(Job<Output, Result> | SluiceError)[]> {
    const call = {
      connection: this.#connection,
      queue: this.name,
      local: this.#local,
      options: parseOperation("addBulk", options) ?? {},
    };
    const trace = this.#connection.tracing?.sending(this.name, items.length);
    const adding = addAll({ ...call, trace }, items);
    const answers = await (trace === undefined ? adding : trace.over(adding));
    return answers.map((answer) => (answer instanceof SluiceError ? answer : this.#handle(answer)));
  }

  /**
   * Runs a handler for each job, or with `batch` for up to `max` jobs at once. The worker takes
   * jobs until it is closed.
   */
  work<R extends Result = Result>(
    handler: Handler<Output, R>,
    options?: WorkOptions & { batch?: undefined },
  ): Worker<Output, R>;
  work<R extends Result = Result>(
    handler: BatchHandler<Output, R>,
    options: WorkOptions & { batch: NonNullable<WorkOptions["batch"]> },
  ): Worker<Output, R>;
  work<R extends Result = Result>(
    handler: Handler<Output, R> | BatchHandler<Output, R>,
    options: WorkOptions = {},
  ): Worker<Output, R> {
    if (typeof handler !== "function") throw invalid("work.handler", "a function", handler);
    const work = parseWork(options);
    return this.#connection.hold(
      () =>
        new Worker<Output, R>({
          connection: this.#connection,
          queue: this.name,
          name: work.name ?? this.#connection.workerName(this.name),
          local: this.#local,
          handler: handler as Handler<never, unknown> | BatchHandler<never, unknown>,
          work,
          above: this as Emitter<WorkEvents<never, never>>,
        }),
    );
  }

  /**
   * Jobs one by one, for a `for await` loop. The caller acks or nacks each job it takes. Leaving
   * the loop, also by a throw, fails the job in hand at once and gives the others back.
   */
  consume(options: ConsumptionOptions = {}): Consumption<Output, Result> {
    const work = parseConsume(options);
    return this.#connection.hold(
      () =>
        new Consumption<Output, Result>({
          connection: this.#connection,
          queue: this.name,
          name: work.name ?? this.#connection.workerName(this.name),
          local: this.#local,
          work,
          above: this as Emitter<WorkEvents<never, never>>,
        }),
    );
  }

  /** A group of this queue. Asks nothing: its calls do. */
  group(name: string): Group {
    return new Group(this.#connection.port, groupName(this.name, name));
  }

  async info(options?: CallOptions): Promise<QueueInfo> {
    return this.#connection.port.queue(this.name, parseCall("info", options));
  }

  async stats(options?: CallOptions): Promise<QueueStats> {
    return (await this.info(options)).stats;
  }

  /** No job is handed out until `resume`; adds go on. */
  async pause(options?: CallOptions): Promise<void> {
    const call = parseCall("pause", options);
    await this.#connection.port.setQueue(this.name, { paused: true }, call);
  }

  async resume(options?: CallOptions): Promise<void> {
    const call = parseCall("resume", options);
    await this.#connection.port.setQueue(this.name, { paused: false }, call);
  }

  /** Removes what waits or is delayed; jobs that run are left alone. */
  async purge(options?: OperationOptions): Promise<void> {
    await this.#connection.port.purge(this.name, parseOperation("purge", options));
  }

  /**
   * For a dead letter queue: puts letters back where they came from, the oldest first or those that
   * are named; answers how many.
   */
  async redrive(
    options: { count?: number; ids?: readonly string[] } & OperationOptions = {},
  ): Promise<number> {
    const { rest, call } = parseCallWith("redrive", options, ["count", "ids", "operationId"]);
    return this.#connection.port.redrive(this.name, { ...rest, ...call });
  }

  /**
   * Deletes the queue with all its jobs, for good. Handlers that run here are aborted. Its dead
   * letters in other queues stay, unless `deadLetters` is `delete`; answers how many there were.
   */
  async delete(
    options: { deadLetters?: "keep" | "delete" } & OperationOptions = {},
  ): Promise<QueueDeleted> {
    const { rest, call } = parseCallWith("delete", options, ["deadLetters", "operationId"]);
    return this.#connection.deleteQueue(this.name, { ...rest, ...call });
  }

  /** The jobs of the queue, in pages as they are needed. */
  jobs(
    options: { state?: JobState; lane?: FairnessKey } & CallOptions = {},
  ): AsyncIterableIterator<JobDetails<Output, Result>> {
    const { rest, call } = parseCallWith("jobs", options, ["state", "lane"]);
    const filter = { ...rest, ...call, limit: PAGE_ITEMS };
    return walkPages(async (from) => {
      const page = await this.#connection.port.jobs(this.name, { ...filter, ...from });
      const items = page.items.map((info) => detailsOf<Output, Result>(info, this.#local.codec));
      return { ...page, items };
    });
  }

  /** The lanes of the queue, each with its weight and what it has received. */
  lanes(options: { search?: string } & CallOptions = {}): AsyncIterableIterator<LaneStats> {
    const { rest, call } = parseCallWith("lanes", options, ["search"]);
    const filter = { ...rest, ...call, limit: PAGE_ITEMS };
    return walkPages((from) => this.#connection.port.lanes(this.name, { ...filter, ...from }));
  }

  async setWeight(key: FairnessKey, weight: number, options?: CallOptions): Promise<void> {
    const call = parseCall("setWeight", options);
    await this.#connection.port.setLaneWeight(this.name, key, weight, call);
  }

  /** The workers of the queue; with `jobs`, which ones each has held longest, and since when. */
  async workers(options: { jobs?: number } & CallOptions = {}): Promise<readonly WorkerInfo[]> {
    const { rest, call } = parseCallWith("workers", options, ["jobs"]);
    return this.#connection.port.workers(this.name, { ...rest, ...call });
  }

  /** Cancels the job that holds a dedupe key; false when none does. Its handler is aborted. */
  async cancelByKey(key: string, options?: OperationOptions): Promise<boolean> {
    return this.#connection.cancelByKey(this.name, key, parseOperation("cancelByKey", options));
  }

  #send(job: NewJob, call: PortOptions | undefined): Promise<Job<Output, Result>> {
    const trace = this.#connection.tracing?.sending(this.name, 1);
    trace?.mark([job]);
    const adding = call === undefined ? this.#gather(job) : this.#alone(job, call);
    return trace === undefined ? adding : trace.over(adding);
  }

  async #alone(job: NewJob, call: PortOptions): Promise<Job<Output, Result>> {
    return this.#handle(await this.#connection.addsTo(this.name).alone(job, call));
  }

  #gather(job: NewJob): Promise<Job<Output, Result>> {
    const adding = new Adding<Job<Output, Result>>(this.#handleOf);
    this.#connection.addsTo(this.name).add(job, adding);
    return adding.promise;
  }

  readonly #handleOf = (added: Added): Job<Output, Result> => this.#handle(added);

  #handle(added: Added): Job<Output, Result> {
    return new Job(this.#connection, added, this.#local.codec);
  }
}

function saysMore(options: OperationOptions): boolean {
  return "signal" in options || "timeout" in options || "operationId" in options;
}

/**
 * An add that travels with others. Adds of a whole turn are alive at once: with closures for its
 * two outcomes each took 200 bytes more.
 */
class Adding<Handle> implements Waiter<Added> {
  readonly #end = Promise.withResolvers<Handle>();
  readonly #handleOf: (added: Added) => Handle;

  constructor(handleOf: (added: Added) => Handle) {
    this.#handleOf = handleOf;
  }

  get promise(): Promise<Handle> {
    return this.#end.promise;
  }

  done(added: Added): void {
    this.#end.resolve(this.#handleOf(added));
  }

  refused(error: ErrorJson): void {
    this.#end.reject(SluiceError.fromJSON(error));
  }
}

/** `add(name, data, options)` of BullMQ would store the name as the payload. */
function namedAdd(): SluiceError {
  const message = "add takes a payload and options: jobs have no name";
  return new SluiceError("INVALID", message, { field: "add" });
}

/** What is said about the job, and about the call; most adds say nothing about the call. */
function splitAdd(options: (JobOptions & OperationOptions) | undefined): {
  said: JobOptions | undefined;
  call: PortOptions | undefined;
} {
  if (options === undefined || !saysMore(options)) return { said: options, call: undefined };
  const { signal, timeout, operationId, ...said } = options;
  return { said, call: parseOperation("add", { signal, timeout, operationId }) };
}

/** A handle on one queue: adds, workers, and what an operator does. */
import {
  type Added,
  type CallOptions,
  type FairnessKey,
  groupName,
  type JobState,
  type LaneStats,
  type NewJob,
  type QueueInfo,
  type QueueStats,
  SluiceError,
  type WorkerInfo,
} from "@sluice/protocol";
import { asTyped } from "./as-typed.ts";
import { addAll } from "./bulk.ts";
import type { Connection } from "./connection.ts";
import { Consumption } from "./consumption.ts";
import { Emitter } from "./emitter.ts";
import type { WorkEvents } from "./events.ts";
import { fieldsOf } from "./fields.ts";
import { Group } from "./group.ts";
import { invalid } from "./invalid.ts";
import { detailsOf, Job, type JobDetails } from "./job.ts";
import { PAGE_ITEMS } from "./limits.ts";
import { prepare } from "./outgoing.ts";
import { walkPages } from "./pages.ts";
import type { BulkItem, JobOptions } from "./parse-job.ts";
import type { LocalOptions } from "./parse-queue.ts";
import { type ConsumeOptions, parseConsume, parseWork, type WorkOptions } from "./parse-work.ts";
import type { Handler } from "./run-job.ts";
import { Worker } from "./worker.ts";

/** `Payload` is what is added, `Output` what handlers get: a schema may make one of the other. */
export class Queue<Payload = unknown, Result = unknown, Output = Payload> extends Emitter<
  WorkEvents<Output, Result>
> {
  readonly name: string;
  readonly #connection: Connection;
  readonly #local: LocalOptions;

  /** Users call `sluice.queue`. */
  constructor(
    connection: Connection,
    { name }: QueueInfo,
    local: LocalOptions,
    above: Emitter<WorkEvents<unknown, unknown>>,
  ) {
    super(above);
    this.name = name;
    this.#connection = connection;
    this.#local = local;
  }

  /** Adds one job; the answer means that it is durable. Adds of one turn travel together. */
  add(payload: Payload, options?: JobOptions): Promise<Job<Output, Result>> {
    try {
      const job = prepare(this.#local, payload, options);
      if (!(job instanceof Promise)) return this.#send(job, options);
      return job.then((ready) => this.#send(ready, options));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Adds many; each item is answered with its job, or with the error that refused it. */
  async addBulk(
    items: readonly BulkItem<Payload>[],
    options: CallOptions = {},
  ): Promise<(Job<Output, Result> | SluiceError)[]> {
    const call = {
      connection: this.#connection,
      queue: this.name,
      local: this.#local,
      options: fieldsOf<CallOptions>("addBulk", options, ["operationId", "signal"]),
    };
    const trace = this.#connection.tracing?.sending(this.name, items.length);
    const adding = addAll({ ...call, trace }, items);
    const answers = await (trace === undefined ? adding : trace.over(adding));
    return answers.map((answer) => (answer instanceof SluiceError ? answer : this.#handle(answer)));
  }

  /** Runs a handler for each job. The worker takes jobs until it is closed. */
  work(handler: Handler<Output, Result>, options: WorkOptions = {}): Worker<Output, Result> {
    if (typeof handler !== "function") throw invalid("work.handler", "a function", handler);
    const work = parseWork(options);
    return this.#connection.hold(
      () =>
        new Worker<Output, Result>({
          connection: this.#connection,
          queue: this.name,
          name: work.name ?? this.#connection.workerName(this.name),
          local: this.#local,
          handler: handler as Handler<never, unknown>,
          work,
          above: this as Emitter<WorkEvents<never, never>>,
        }),
    );
  }

  /**
   * Jobs one by one, for a `for await` loop; whoever takes one also acks or nacks it. Leaving the
   * loop, by a throw too, fails the job in hand at once and gives the others back.
   */
  consume(options: ConsumeOptions = {}): Consumption<Output, Result> {
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

  async info(): Promise<QueueInfo> {
    return this.#connection.port.queue(this.name);
  }

  async stats(): Promise<QueueStats> {
    return (await this.info()).stats;
  }

  /** No job is handed out until `resume`; adds go on. */
  async pause(): Promise<void> {
    await this.#connection.port.setQueue(this.name, { paused: true });
  }

  async resume(): Promise<void> {
    await this.#connection.port.setQueue(this.name, { paused: false });
  }

  /** Removes what waits or is delayed; jobs that run are left alone. */
  async purge(): Promise<void> {
    await this.#connection.port.purge(this.name);
  }

  /** For a dead letter queue: puts jobs back where they came from; answers how many. */
  async redrive(options: { count?: number } = {}): Promise<number> {
    const { count } = fieldsOf<{ count?: number }>("redrive", options, ["count"]);
    return this.#connection.port.redrive(this.name, count === undefined ? {} : { count });
  }

  /** Deletes the queue with all its jobs, for good. Handlers that run here are aborted. */
  async delete(): Promise<void> {
    await this.#connection.deleteQueue(this.name);
  }

  /** The jobs of the queue, in pages as they are needed. */
  jobs(
    options: { state?: JobState; lane?: FairnessKey } = {},
  ): AsyncIterableIterator<JobDetails<Output, Result>> {
    const filter = fieldsOf<typeof options>("jobs", options, ["state", "lane"]);
    return walkPages(async (cursor) => {
      const asked = { ...filter, limit: PAGE_ITEMS, ...(cursor === undefined ? {} : { cursor }) };
      const page = await this.#connection.port.jobs(this.name, asked);
      const items = page.items.map((info) => detailsOf<Output, Result>(info, this.#local.codec));
      return { ...page, items };
    });
  }

  /** The lanes of the queue, each with its weight and what it has received. */
  lanes(options: { search?: string } = {}): AsyncIterableIterator<LaneStats> {
    const filter = fieldsOf<typeof options>("lanes", options, ["search"]);
    return walkPages((cursor) => {
      const asked = { ...filter, limit: PAGE_ITEMS, ...(cursor === undefined ? {} : { cursor }) };
      return this.#connection.port.lanes(this.name, asked);
    });
  }

  async setWeight(key: FairnessKey, weight: number): Promise<void> {
    await this.#connection.port.setLaneWeight(this.name, key, weight);
  }

  async workers(): Promise<readonly WorkerInfo[]> {
    return this.#connection.port.workers(this.name);
  }

  /** Cancels the job that holds a dedupe key; false when none does. Its handler is aborted. */
  async cancelByKey(key: string): Promise<boolean> {
    return this.#connection.cancelByKey(this.name, key);
  }

  #send(job: NewJob, options: JobOptions | undefined): Promise<Job<Output, Result>> {
    const trace = this.#connection.tracing?.sending(this.name, 1);
    if (trace === undefined) return this.#gather(job, options);
    trace.mark([job]);
    return trace.over(this.#gather(job, options));
  }

  #gather(job: NewJob, options: JobOptions | undefined): Promise<Job<Output, Result>> {
    return new Promise((resolve, reject) => {
      this.#connection.addsTo(this.name).add(job, {
        done: (added) => resolve(this.#handle(added)),
        refused: (error) => {
          reject(asTyped(SluiceError.fromJSON(error), { root: "job", options }));
        },
      });
    });
  }

  #handle(added: Added): Job<Output, Result> {
    return new Job(this.#connection, added, this.#local.codec);
  }
}

// The load of most figures here: jobs are added through the library, a worker in the same process
// takes them, and a run is over when the last ack is confirmed as durable.

import { type Durability, type Queue, Sluice, SluiceError } from "sluice";
import { GATE, Jobs, type JobsOptions, PAYLOAD_BYTES, type Shape } from "./jobs.ts";

export const BATCH_JOBS = 1000;
// Some gather while a sync carries the others. Of 2, 4, 8 and 16 this had the highest median, 7 %
// above that of 4; on a busy machine, where single runs lay further apart.
export const BULKS_IN_FLIGHT = 8;

// As many as are on their way: no batch waits for the worker.
const CONCURRENCY = BULKS_IN_FLIGHT * BATCH_JOBS;
// More than any run takes: the gate counts every job and never closes.
const OPEN_GATE = { rate: 1e9, burst: 1e9 };
const CAPACITY = { jobs: 100_000_000, bytes: 1e12 };

export interface LoadOptions extends Partial<JobsOptions> {
  readonly durability: Durability;
  // Undefined: in memory.
  readonly dir?: string;
  readonly fairness?: boolean;
  // Jobs that wait all the time: the worker finishes no more than were added beside them.
  readonly backlog?: number;
}

export class EmbeddedLoad implements AsyncDisposable {
  readonly #sluice: Sluice;
  readonly #queue: Queue;
  readonly #jobs: Jobs;
  readonly #backlog: number;
  readonly #shape: Shape;
  // Handlers that wait because as many have ended as were added.
  readonly #held: (() => void)[] = [];
  #permits = 0;
  #left = 0;
  #run = Promise.withResolvers<void>();

  // Processor time of the last run: what other processes take from this one leaves it as it is.
  cpuMicrosPerJob = 0;

  // Called when a handler begins, with the payload.
  onHandled: (payload: unknown) => void = () => {};

  private constructor(sluice: Sluice, queue: Queue, jobs: Jobs, backlog: number, shape: Shape) {
    this.#sluice = sluice;
    this.#queue = queue;
    this.#jobs = jobs;
    this.#backlog = backlog;
    this.#shape = shape;
  }

  static async open(options: LoadOptions): Promise<EmbeddedLoad> {
    const { durability, dir, fairness = true, backlog = 0 } = options;
    const { lanes = 10, isGated = true, shape = "bytes" } = options;
    const sluice = await Sluice.open({ durability, dir });
    await sluice.gate(GATE).set(OPEN_GATE);
    // Handlers that hold the backlog back are not to be interrupted by their leases.
    const own = { fairness, codec: shape, capacity: CAPACITY, lease: "1h" } as const;
    const queue = await sluice.queue("jobs", own);
    const load = new EmbeddedLoad(
      sluice,
      queue,
      new Jobs({ lanes, isGated, shape }),
      backlog,
      shape,
    );
    await load.#begin();
    return load;
  }

  get conditions() {
    return {
      payload: `${PAYLOAD_BYTES} bytes, ${this.#shape === "json" ? "an object as JSON" : "as bytes"}`,
      workerConcurrency: CONCURRENCY,
      ...(this.#backlog === 0 ? {} : { backlogJobs: this.#backlog }),
    };
  }

  // Jobs a second, added in batches.
  bulk(jobs: number): Promise<number> {
    return this.#timed(jobs, () =>
      keepInFlight(BULKS_IN_FLIGHT, jobs / BATCH_JOBS, () => this.#addBatch()),
    );
  }

  // Jobs a second, added one by one.
  singles(jobs: number, inFlight: number): Promise<number> {
    return this.#timed(jobs, () =>
      keepInFlight(inFlight, jobs, async () => {
        await this.add(this.#jobs.payload());
        this.#permit(1);
      }),
    );
  }

  add(payload: unknown): Promise<unknown> {
    return this.#queue.add(payload, this.#jobs.options());
  }

  // Resolves when this many more jobs are finished for good.
  finished(jobs: number): Promise<void> {
    this.#left = jobs;
    this.#run = Promise.withResolvers<void>();
    return this.#run.promise;
  }

  // Jobs that are added and not yet finished.
  async live(): Promise<number> {
    const { waiting, running } = await this.#queue.stats();
    return waiting + running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#permit(this.#held.length);
    await this.#sluice.close();
  }

  async #begin(): Promise<void> {
    const batches = this.#backlog / BATCH_JOBS;
    await keepInFlight(BULKS_IN_FLIGHT, batches, () => this.#send(BATCH_JOBS));
    const worker = this.#queue.work((job) => this.#handle(job.payload), {
      concurrency: CONCURRENCY,
    });
    worker.on("finished", () => {
      if (--this.#left === 0) this.#run.resolve();
    });
    worker.on("failed", ({ error }) => this.#run.reject(error));
    worker.on("error", ({ error }) => this.#run.reject(error));
    worker.on("lease-lost", ({ error }) => this.#run.reject(error));
  }

  #handle(payload: unknown): void | Promise<void> {
    this.onHandled(payload);
    if (this.#backlog === 0) return;
    if (this.#permits > 0) this.#permits--;
    else return new Promise((resolve) => this.#held.push(resolve));
  }

  #permit(count: number): void {
    if (this.#backlog === 0) return;
    for (let i = 0; i < count; i++) {
      const held = this.#held.pop();
      if (held === undefined) this.#permits++;
      else held();
    }
  }

  async #timed(jobs: number, add: () => Promise<void>): Promise<number> {
    const finished = this.finished(jobs);
    const before = process.cpuUsage();
    const from = performance.now();
    await Promise.all([add(), finished]);
    const ms = performance.now() - from;
    const { user, system } = process.cpuUsage(before);
    this.cpuMicrosPerJob = (user + system) / jobs;
    return (jobs * 1000) / ms;
  }

  async #addBatch(): Promise<void> {
    await this.#send(BATCH_JOBS);
    this.#permit(BATCH_JOBS);
  }

  async #send(count: number): Promise<void> {
    const answers = await this.#queue.addBulk(this.#jobs.batch(count));
    for (const answer of answers) if (answer instanceof SluiceError) throw answer;
  }
}

// Makes `total` calls, so many of them at a time.
export async function keepInFlight(
  inFlight: number,
  total: number,
  call: () => Promise<void>,
): Promise<void> {
  let begun = 0;
  const takeTurns = async (): Promise<void> => {
    while (begun < total) {
      begun++;
      await call();
    }
  };
  await Promise.all(Array.from({ length: inFlight }, takeTurns));
}

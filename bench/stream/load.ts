// What the processes of one measurement share, and how they are started.

import { join } from "node:path";
import { Process } from "../process.ts";
import { Scratch } from "../scratch.ts";

const program = (name: string): string => join(import.meta.dirname, `${name}.ts`);

export const BATCH_JOBS = 1000;
// Some gather while a sync carries the others.
export const BULKS_IN_FLIGHT = 8;

export const QUEUE = {
  codec: "bytes",
  capacity: { jobs: 100_000_000, bytes: 1e12 },
  lease: "1h",
} as const;

export interface LoadOptions {
  readonly payloadBytes: number;
  readonly lanes: number;
  readonly durability?: "fsync" | "os";
  // False: no worker takes jobs, but for as many as a run adds.
  readonly works?: boolean;
  // Of the producer and of the consumer each.
  readonly connections?: number;
  // Of the broker. Absent: its default.
  readonly payloadMemoryBytes?: number;
  // Of a whole server. Absent: its stream alone.
  readonly threads?: number;
}

export class StreamLoad implements AsyncDisposable {
  readonly server = new Process(program("server"));
  readonly producer = new Process(program("producer"));
  readonly consumer = new Process(program("consumer"));
  readonly #scratch = new Scratch();
  readonly #options: LoadOptions;
  // Processor time of each process for a job, over the last run.
  cpuMicrosPerJob = { server: 0, producer: 0, consumer: 0 };

  private constructor(options: LoadOptions) {
    this.#options = options;
  }

  static async open(options: LoadOptions): Promise<StreamLoad> {
    const { payloadBytes, lanes, durability = "fsync", works = true, connections = 1 } = options;
    const load = new StreamLoad(options);
    const { threads = 0, payloadMemoryBytes } = options;
    const served = [load.#scratch.fresh(), durability, threads, payloadMemoryBytes];
    const url = await load.server.ask<string>("open", ...served);
    await load.producer.ask("open", url, payloadBytes, lanes, connections);
    await load.consumer.ask("open", url, works, connections);
    return load;
  }

  get conditions() {
    const { payloadBytes, lanes, durability = "fsync" } = this.#options;
    return {
      durability,
      disk: this.#scratch.disk,
      payload: `${payloadBytes} bytes`,
      lanes,
      processes: "producer, server and consumer, one each, over loopback",
    };
  }

  bulk(jobs: number): Promise<number> {
    return this.#timed(jobs, "bulk", jobs);
  }

  singles(jobs: number, inFlight: number): Promise<number> {
    return this.#timed(jobs, "singles", jobs, inFlight);
  }

  // Percentiles of the time from when an add was due to the begin of its handler.
  async latencies(jobs: number, perSecond: number, shares: readonly number[]): Promise<number[]> {
    const finished = this.consumer.ask<number[]>("finishTimed", jobs, shares);
    await this.producer.ask("openLoop", jobs, perSecond);
    return finished;
  }

  // One after the other, each some time after the one before was confirmed. Percentiles of the time
  // from the call of add to the begin of its handler.
  async spaced(jobs: number, restMs: number, shares: readonly number[]): Promise<number[]> {
    const finished = this.consumer.ask<number[]>("finishTimed", jobs, shares);
    await this.producer.ask("spaced", jobs, restMs);
    return finished;
  }

  async #timed(jobs: number, question: string, ...args: number[]): Promise<number> {
    await this.#cpu();
    const { works = true } = this.#options;
    const finished = this.consumer.ask(works ? "finish" : "finishSome", jobs);
    const from = performance.now();
    await Promise.all([this.producer.ask(question, ...args), finished]);
    const ms = performance.now() - from;
    const [server = 0, producer = 0, consumer = 0] = await this.#cpu();
    this.cpuMicrosPerJob = {
      server: server / jobs,
      producer: producer / jobs,
      consumer: consumer / jobs,
    };
    return (jobs * 1000) / ms;
  }

  #cpu(): Promise<number[]> {
    const all = [this.server, this.producer, this.consumer];
    return Promise.all(all.map((one) => one.ask<number>("cpuMicros")));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.producer[Symbol.asyncDispose]();
    await this.consumer[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
    this.#scratch[Symbol.dispose]();
  }
}

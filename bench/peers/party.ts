// One system at work: its server, a producer and a consumer, each in a process of its own.

import { join } from "node:path";
import type { Conditions } from "../figure.ts";
import { Process } from "../process.ts";
import type { Scratch } from "../scratch.ts";
import type { Turn } from "./consumer.ts";
import { packageVersion } from "./package-version.ts";
import type { Paced } from "./producer.ts";
import { ownDir } from "./server.ts";
import type { Mode, Place, Running, System } from "./system.ts";

const program = (name: string): string => join(import.meta.dirname, `${name}.ts`);

const PACKAGES = {
  sluice: undefined,
  bullmq: "bullmq",
  "bee-queue": "bee-queue",
  "pg-boss": "pg-boss",
  graphile: "graphile-worker",
  jetstream: "@nats-io/jetstream",
  rabbitmq: "amqplib",
  beanstalkd: "jackd",
} as const;

export type Work = Partial<Pick<Place, "isLatency" | "isFair" | "concurrency" | "limitPerSecond">>;

export class Party implements AsyncDisposable {
  readonly scratch: Scratch;
  readonly #system: System;
  readonly #mode: Mode;
  readonly #running: Running;
  readonly #producer: Process;
  readonly #consumer: Process;
  #takenMax = 0;
  // Ids are never used again.
  #next = 0;

  private constructor(system: System, mode: Mode, running: Running, scratch: Scratch) {
    this.scratch = scratch;
    this.#system = system;
    this.#mode = mode;
    this.#running = running;
    this.#producer = new Process(program("producer"), [system.name]);
    this.#consumer = new Process(program("consumer"), [system.name]);
  }

  static async open(system: System, mode: Mode, scratch: Scratch, work: Work): Promise<Party> {
    const running = await system.start(ownDir(scratch.fresh()), mode);
    const party = new Party(system, mode, running, scratch);
    try {
      const place: Place = {
        address: running.address,
        queue: "jobs",
        variant: system.variant,
        isLatency: work.isLatency ?? false,
        isFair: work.isFair ?? false,
        concurrency: work.concurrency,
        limitPerSecond: work.limitPerSecond,
      };
      // One after the other: the first one makes the queue.
      await party.#producer.ask("open", system.client, place);
      party.#takenMax = await party.#consumer.ask<number>("open", system.client, place);
    } catch (error) {
      await party[Symbol.asyncDispose]();
      throw error;
    }
    return party;
  }

  get conditions(): Conditions {
    return {
      system: this.#system.name,
      durability: this.#system.modes[this.#mode] ?? "",
      version: [this.#running.version, ...clientVersion(this.#system)].join(", "),
    };
  }

  // Jobs that the consumer may have taken and not finished yet.
  get takenMax(): number {
    return this.#takenMax;
  }

  memoryBytes(): number {
    return this.#running.server.memoryBytes();
  }

  // The ids of the next jobs.
  take(count: number): number {
    const first = this.#next;
    this.#next += count;
    return first;
  }

  produce(question: "bulk" | "singles", ...args: number[]): Promise<void> {
    return this.#producer.ask(question, ...args);
  }

  pace(paced: Paced): Promise<void> {
    return this.#producer.ask("paced", paced);
  }

  // The consumer is connected, and takes nothing before it is started.
  ready(turn: Turn): Promise<void> {
    return this.#consumer.ask("ready", turn);
  }

  start(): Promise<void> {
    return this.#consumer.ask("start");
  }

  finished(): Promise<void> {
    return this.#consumer.ask("finished");
  }

  // How many jobs came.
  stop(): Promise<number> {
    return this.#consumer.ask("stop");
  }

  tell<T>(question: "latencies" | "quiet" | "pace", ...args: readonly unknown[]): Promise<T> {
    return this.#consumer.ask(question, ...args);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#producer[Symbol.asyncDispose]();
    await this.#consumer[Symbol.asyncDispose]();
    const { server, others = [] } = this.#running;
    for (const one of [server, ...others]) await one[Symbol.asyncDispose]();
  }
}

function clientVersion({ client }: System): string[] {
  const name = PACKAGES[client];
  return name === undefined ? [] : [packageVersion(name)];
}

// A producer and a consumer in processes of their own, and what a run of theirs costs whom.

import { join } from "node:path";
import { Process } from "../process.ts";
import { cpuMicrosOf } from "./cpu.ts";
import { expectSame } from "./load.ts";
import type { Nodes } from "./nodes.ts";

export interface Run {
  readonly ids: readonly string[];
  readonly perSecond: number;
  // Processor time for a job: of all nodes, of all nats-servers, of producer and consumer.
  readonly nodesMicros: number;
  readonly busiestMicros: number;
  readonly natsMicros: number;
  readonly clientsMicros: number;
}

export const programOf = (name: string): string => join(import.meta.dirname, `${name}.ts`);

export class Team implements AsyncDisposable {
  readonly producer: Process;
  readonly consumer: Process;
  readonly #nodes: Nodes;

  constructor(nodes: Nodes, kind: "" | "plain-" = "") {
    this.#nodes = nodes;
    this.producer = new Process(programOf(`${kind}producer`));
    this.consumer = new Process(programOf(`${kind}consumer`));
  }

  // Adds, works and acks so many jobs; throws unless each was delivered once. No more than
  // `waiting` are added before all of them are finished.
  async run(
    jobs: number,
    question: "bulk" | "singles",
    { waiting = jobs, ...options }: { waiting?: number; [option: string]: unknown } = {},
  ): Promise<Run> {
    const before = this.#cpu();
    const from = performance.now();
    for (let left = jobs; left > 0; left -= waiting) {
      await this.#finish(Math.min(waiting, left), question, options);
    }
    const ms = performance.now() - from;
    const after = this.#cpu();
    const [natsMicros = 0, clientsMicros = 0, ...each] = after.map(
      (micros, index) => (micros - before[index]!) / jobs,
    );
    const nodesMicros = each.reduce((sum, micros) => sum + micros, 0);
    const busiestMicros = Math.max(0, ...each);
    const ids = await this.producer.ask<string[]>("ids");
    expectSame(ids, await this.consumer.ask<string[]>("ids"));
    const perSecond = (jobs * 1000) / ms;
    return { ids, perSecond, nodesMicros, busiestMicros, natsMicros, clientsMicros };
  }

  async #finish(jobs: number, question: "bulk" | "singles", options: object): Promise<void> {
    const finished = this.consumer.ask("finish", jobs);
    const added = this.producer.ask(question, jobs, options);
    // The first failure is reported. The other call ends with its process.
    for (const each of [added, finished]) each.catch(() => {});
    await Promise.all([added, finished]);
  }

  // Of the nats-servers, of producer and consumer, and of each node.
  #cpu(): number[] {
    const { pids, nats } = this.#nodes;
    const clients = [this.producer.pid, this.consumer.pid];
    return [nats.pids, clients, ...pids.map((pid) => [pid])].map(cpuMicrosOf);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.producer[Symbol.asyncDispose]();
    await this.consumer[Symbol.asyncDispose]();
  }
}

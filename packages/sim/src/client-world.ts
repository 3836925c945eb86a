// A world of clients: some add jobs and note what was confirmed, others end what they get, hold it
// for a while, or forget it.

import type { Broker, Consumer, LeasedJob } from "@sluice/protocol";
import { ClientHistory } from "./client-history.ts";
import { FaultWorld, type Pace } from "./fault-world.ts";
import type { Counts } from "./world-end.ts";

// Leases outlive short cuts, and those that were forgotten come back before the end.
export const QUEUE = {
  lease: 20_000,
  retry: { attempts: 1000, min: 10, max: 50 },
  results: { jobs: 100_000, ttl: 3_600_000 },
} as const;
const STEP_MS = 400;

export abstract class ClientWorld extends FaultWorld {
  readonly history = new ClientHistory();
  #names = 0;

  constructor(seed: number, turns: number) {
    const pace: Pace = { turns, steps: 25, quietSteps: 2000, quietMs: STEP_MS };
    super(seed, pace);
  }

  protected get failures(): readonly string[] {
    return this.history.failures;
  }

  protected get counts(): Counts {
    const { jobs, deliveries, unavailable, timeouts } = this.history;
    return { jobs, deliveries, "adds UNAVAILABLE": unavailable, TIMEOUT: timeouts };
  }

  // Connections and servers, cut off somewhere between the first byte and the answer.
  protected abstract disturb(): Promise<void>;
  protected abstract produce(): void;
  // What becomes of a job that has been delivered, unless its worker forgets it.
  protected abstract endJob(client: Broker, job: LeasedJob, isAck: boolean): void;

  // Nothing is asked that has no answer.
  protected get isDone(): boolean {
    return this.history.isSettled;
  }

  protected async step(): Promise<void> {
    this.produce();
    await this.time.pass(this.random.between(0, 80));
    await this.disturb();
    await this.time.pass(this.random.between(1, STEP_MS));
  }

  // How the ends of a stream see time and chance.
  protected streams() {
    return {
      clock: this.clock,
      defer: setImmediate,
      random: () => this.random.between(0, 2 ** 30) / 2 ** 30,
    };
  }

  // Names of jobs, which are their payloads.
  protected names(count: number): string[] {
    return Array.from({ length: count }, () => `p${this.#names++}`);
  }

  protected async consume(
    client: Broker,
    queue: string,
    worker: string,
    credits: number,
  ): Promise<void> {
    let granted = credits;
    let consumer: Consumer | undefined;
    consumer = await client.consume(queue, { worker, credits }, (jobs) => {
      granted -= jobs.length;
      if (granted < 0) this.history.fail(`${worker} got ${-granted} jobs beyond its credits`);
      for (const job of jobs) this.work(client, job);
      // Each job that was taken makes room for another, some time later.
      this.in(this.random.between(1, 300), () => {
        granted += jobs.length;
        consumer?.addCredits(jobs.length);
      });
    });
    void consumer.over.then(() => {
      if (!this.isDone) this.history.fail(`the consumer of ${worker} ended before its jobs`);
    });
  }

  protected work(client: Broker, job: LeasedJob): void {
    this.history.delivered(job);
    if (this.random.chance(0.05)) return;
    const isAck = this.random.chance(this.ackShare);
    this.in(this.random.between(0, 1500), () => this.endJob(client, job, isAck));
  }

  protected abstract readonly ackShare: number;
}

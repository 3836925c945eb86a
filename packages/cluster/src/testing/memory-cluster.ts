import { type LocalBroker, openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import type { Clock } from "@sluice/protocol";
import { LocalPartitions } from "../partitions/local-partitions.ts";
import { ClusterRouter, type Directory } from "../router/index.ts";

export interface MemoryClusterOptions {
  directory: Directory;
  clock: Clock;
  quietMs?: number;
}

/** A cluster in one process, on logs that end with it. */
export class MemoryCluster {
  readonly partitions: LocalPartitions;
  readonly router: ClusterRouter;
  readonly #options: MemoryClusterOptions;
  readonly #logs: MemoryLog[] = [];
  readonly #brokers: LocalBroker[] = [];

  private constructor(options: MemoryClusterOptions) {
    const { clock, directory, quietMs } = options;
    this.#options = options;
    this.partitions = new LocalPartitions({ clock });
    this.router = new ClusterRouter({ directory, partitions: this.partitions, clock, quietMs });
  }

  /** On fresh logs, or on those of a cluster that has ended. */
  static async open(options: MemoryClusterOptions, after?: MemoryCluster): Promise<MemoryCluster> {
    const cluster = new MemoryCluster(options);
    for (let partition = 0; partition < options.directory.partitions; partition++) {
      const log = after === undefined ? undefined : after.#logs[partition];
      cluster.#logs[partition] = new MemoryLog(log === undefined ? {} : { after: log });
      await cluster.#serve(partition);
    }
    return cluster;
  }

  async #serve(partition: number): Promise<void> {
    const log = this.#logs[partition]!;
    const broker = await openBroker({ log, clock: this.#options.clock });
    this.#brokers[partition] = broker;
    this.partitions.serve(partition, broker);
  }

  broker(partition: number): LocalBroker {
    return this.#brokers[partition]!;
  }

  /** Nobody serves it until it is taken; `crash`: its broker ends without a word. */
  async drop(partition: number, crash = false): Promise<void> {
    this.partitions.withdraw(partition);
    if (crash) await this.#logs[partition]!.close();
    else await this.#brokers[partition]!.close();
  }

  async take(partition: number): Promise<void> {
    this.#logs[partition] = new MemoryLog({ after: this.#logs[partition]! });
    await this.#serve(partition);
  }

  async move(partition: number, crash = false): Promise<void> {
    await this.drop(partition, crash);
    await this.take(partition);
  }

  /** All processes end, the router's too. */
  async end(how: "crash" | "close"): Promise<void> {
    if (how === "close") await this.router.close();
    for (let partition = 0; partition < this.#brokers.length; partition++) {
      await this.drop(partition, how === "crash");
    }
    if (how === "crash") await this.router.close();
  }
}

import { type LocalBroker, openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import type { Clock } from "@sluice/protocol";
import { moved } from "../partitions/make-call.ts";
import { ServedPartitions } from "../partitions/served-partitions.ts";
import { ClusterRouter, type Directory } from "../router/index.ts";

export interface MemoryClusterOptions {
  directory: Directory;
  clock: Clock;
  quietMs?: number;
}

/** A cluster in one process, on logs that end with it. A partition is opened when it is needed. */
export class MemoryCluster {
  readonly partitions: ServedPartitions;
  readonly router: ClusterRouter;
  /** Partitions that are not opened. */
  readonly away = new Set<number>();
  readonly #options: MemoryClusterOptions;
  readonly #logs: Map<number, MemoryLog>;
  readonly #brokers = new Map<number, Promise<LocalBroker>>();
  #isEnding = false;

  /** On fresh logs, or on those of a cluster that has ended. */
  constructor(options: MemoryClusterOptions, after?: MemoryCluster) {
    const { clock, directory, quietMs } = options;
    this.#options = options;
    this.#logs = after === undefined ? new Map() : new Map(after.#logs);
    this.partitions = new ServedPartitions({
      clock,
      elsewhere: async (partition) => {
        if (!this.#isEnding && !this.away.has(partition)) await this.broker(partition);
        throw moved(partition);
      },
    });
    const partitions = {
      port: (partition: number) => this.partitions.port(partition),
      close: () => this.#close(),
    };
    this.router = new ClusterRouter({ directory, partitions, clock, quietMs });
  }

  /** The broker of a partition, which is served from now on. */
  broker(partition: number): Promise<LocalBroker> {
    const known = this.#brokers.get(partition);
    if (known !== undefined) return known;
    const opening = this.#open(partition);
    this.#brokers.set(partition, opening);
    return opening;
  }

  async #open(partition: number): Promise<LocalBroker> {
    const after = this.#logs.get(partition);
    const log = new MemoryLog(after === undefined ? {} : { after });
    this.#logs.set(partition, log);
    const { clock, directory } = this.#options;
    const homes = this.partitions.homes(partition, directory.partitions);
    const broker = await openBroker({ log, clock, homes });
    this.partitions.serve(partition, broker);
    return broker;
  }

  /** It moves: its connections break, and it is opened again on the same log when it is needed. */
  async drop(partition: number, how: "crash" | "close"): Promise<void> {
    const broker = await this.#brokers.get(partition);
    if (broker === undefined) return;
    this.partitions.withdraw(partition);
    await (how === "crash" ? this.#logs.get(partition)! : broker).close();
    this.#brokers.delete(partition);
  }

  /** A broker that closes gives back what its consumers hold; the router leaves leases alone. */
  async #close(): Promise<void> {
    this.#isEnding = true;
    for (const broker of this.#brokers.values()) await (await broker).close();
    await this.partitions.close();
  }

  /** All processes end, the router's too. */
  async end(how: "crash" | "close"): Promise<void> {
    this.#isEnding = true;
    if (how === "close") await this.router.close();
    for (const partition of [...this.#brokers.keys()]) await this.drop(partition, how);
    if (how === "crash") await this.router.close();
  }
}

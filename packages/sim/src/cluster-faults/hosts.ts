// The partitions of one world, each a broker on a memory log, served by one process. A partition
// moves: its broker is closed, or ends without a word, and is opened again on the same log.

import { type LocalBroker, openBroker } from "@sluice/broker";
import type { ServedPartitions } from "@sluice/cluster";
import { MemoryLog } from "@sluice/log";
import type { Clock } from "@sluice/protocol";

interface Host {
  log: MemoryLog;
  broker: LocalBroker | undefined;
}

export class Hosts {
  readonly #clock: Clock;
  readonly #served: ServedPartitions;
  readonly #hosts: Host[];

  constructor(clock: Clock, served: ServedPartitions, partitions: number) {
    this.#clock = clock;
    this.#served = served;
    this.#hosts = Array.from({ length: partitions }, () => ({
      log: new MemoryLog(),
      broker: undefined,
    }));
  }

  isUp(partition: number): boolean {
    return this.#hosts[partition]!.broker !== undefined;
  }

  async open(partition: number): Promise<void> {
    const host = this.#hosts[partition]!;
    const leaseSecret = new Uint8Array(16).fill(partition);
    const broker = await openBroker({ log: host.log, clock: this.#clock, leaseSecret });
    host.broker = broker;
    this.#served.serve(partition, broker);
  }

  // One that is fenced has lost its log and does not know it yet: its connections stay until it
  // finds out, or another one has the partition.
  async leave(partition: number, how: "close" | "crash" | "fenced"): Promise<void> {
    const host = this.#hosts[partition]!;
    const { broker } = host;
    host.broker = undefined;
    if (how !== "fenced") this.#served.withdraw(partition);
    await (how === "close" ? broker! : host.log).close();
    host.log = new MemoryLog({ after: host.log });
  }

  async close(): Promise<void> {
    for (const [partition, { broker }] of this.#hosts.entries()) {
      this.#served.withdraw(partition);
      await broker?.close();
    }
  }
}

// What nodes that have nothing to do cost one NATS server: each of them receives the heartbeats of
// all others, so the cost grows with the square of their number. The nodes are simulated, on the
// real code of ownership, registry and heartbeats, each with a connection of its own.

import { setTimeout } from "node:timers/promises";
import { createCluster } from "@sluice/cluster/node";
import { NatsRegistry } from "@sluice/cluster/registry";
import { connectNats } from "@sluice/log/nats";
import { NatsServers } from "@sluice/log/testing";
import type { Group, Report, Scale } from "../figure.ts";
import { Process } from "../process.ts";
import { figureOf, repeat } from "../spread.ts";
import { cpuMicrosOf } from "./cpu.ts";
import { programOf } from "./team.ts";

const NODES = [3, 30, 100, 300];
const NODES_PER_PROCESS = 50;
// As many as ownership has to look at; their number costs NATS nothing while they are idle.
const PARTITIONS = 24;
const STRETCH_MS = 5_000;
const SETTLE_MS = 120_000;
const CLUSTER = "beats";

class SimulatedNodes {
  readonly #processes: Process[] = [];
  #count = 0;

  async grow(urls: readonly string[], count: number): Promise<void> {
    while (this.#count < count) {
      const process = new Process(programOf("beating-nodes"));
      this.#processes.push(process);
      const more = Math.min(NODES_PER_PROCESS, count - this.#count);
      await process.ask("add", urls, CLUSTER, PARTITIONS, this.#count, more);
      this.#count += more;
    }
  }

  // All live, as all others see it, and serve what is theirs.
  async settled(): Promise<void> {
    const endAt = performance.now() + SETTLE_MS;
    while (!(await this.#isSettled())) {
      if (performance.now() > endAt) throw new Error(`not settled within ${SETTLE_MS} ms`);
      await setTimeout(100);
    }
  }

  async #isSettled(): Promise<boolean> {
    const looks = await Promise.all(
      this.#processes.map((one) =>
        one.ask<{ isWhole: boolean; served: number[] }>("look", this.#count, PARTITIONS),
      ),
    );
    const served = new Set(looks.flatMap((one) => one.served));
    return looks.every(({ isWhole }) => isWhole) && served.size === PARTITIONS;
  }

  async close(): Promise<void> {
    for (const process of this.#processes) await process[Symbol.asyncDispose]();
  }
}

async function measure(scale: Scale, report: Report): Promise<void> {
  const servers = await NatsServers.start();
  const nodes = new SimulatedNodes();
  try {
    const connection = await connectNats(servers.urls);
    const registry = await NatsRegistry.open({ connection, bucket: CLUSTER, create: true });
    await createCluster(registry, { name: CLUSTER, partitions: PARTITIONS });
    await connection.close();
    for (const count of NODES) {
      await nodes.grow(servers.urls, count);
      await nodes.settled();
      const shares = await repeat(scale.runs, async () => {
        const before = cpuMicrosOf(servers.pids);
        await setTimeout(STRETCH_MS);
        return (cpuMicrosOf(servers.pids) - before) / (STRETCH_MS * 1000);
      });
      // No node was given up meanwhile.
      await nodes.settled();
      const conditions = { nodes: count, partitions: PARTITIONS, natsServers: 1, copies: 1 };
      const name = `${count} nodes without jobs: one nats-server`;
      report(figureOf(name, "of a core", shares, { ...conditions, stretchMs: STRETCH_MS }));
    }
  } finally {
    await nodes.close();
    await servers.stop();
  }
}

export const beatsGroups: readonly Group[] = [{ name: "beats", run: measure }];

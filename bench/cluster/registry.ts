// What a beat costs the nats-servers: one write, and its delivery to every node.

import { NatsRegistry } from "@sluice/cluster/registry";
import { connectNats } from "@sluice/log/nats";
import { NatsServers } from "@sluice/log/testing";
import type { Figure, Group, Scale } from "../figure.ts";
import { rounded, spreadConditions, spreadOf } from "../spread.ts";
import { cpuMicrosOf } from "./cpu.ts";

const SERVERS = 3;
const WATCHERS = [3, 30, 100];
const WRITES = 1000;
// As long as the entry of a node with four partitions.
const VALUE = "x".repeat(500);

class Watchers {
  readonly #registries: NatsRegistry[] = [];
  readonly #close: (() => Promise<void>)[] = [];
  readonly #heard: number[] = [];
  #revision = 0;
  #look = (): void => {};

  static async open(urls: string[], bucket: string, count: number): Promise<Watchers> {
    const watchers = new Watchers();
    for (let i = 0; i < count; i++) {
      const connection = await connectNats(urls);
      const registry = await NatsRegistry.open({ connection, bucket });
      watchers.#registries.push(registry);
      watchers.#close.push(async () => {
        await registry.close();
        await connection.close();
      });
      await registry.watch("", ({ revision }) => {
        watchers.#heard[i] = revision;
        watchers.#look();
      });
    }
    return watchers;
  }

  // Resolves when all have heard of the last write. Who is behind may be spared one in between:
  // the bucket keeps the latest value alone.
  async write(count: number): Promise<void> {
    const [registry] = this.#registries;
    for (let i = 0; i < count; i++) {
      this.#revision = await (this.#revision === 0
        ? registry!.create("node.a", VALUE)
        : registry!.update("node.a", VALUE, this.#revision));
    }
    await new Promise<void>((resolve) => {
      this.#look = () => {
        if (this.#registries.every((_, i) => this.#heard[i] === this.#revision)) resolve();
      };
      this.#look();
    });
    this.#look = () => {};
  }

  async close(): Promise<void> {
    for (const close of this.#close) await close();
  }
}

async function microsOf(servers: NatsServers, watchers: Watchers, writes: number): Promise<number> {
  const before = cpuMicrosOf(servers.pids);
  await watchers.write(writes);
  return (cpuMicrosOf(servers.pids) - before) / writes;
}

async function measure(scale: Scale, report: (figure: Figure) => void): Promise<void> {
  const servers = await NatsServers.start({ count: SERVERS });
  const writes = scale.size(WRITES);
  try {
    for (const count of WATCHERS) {
      const watchers = await Watchers.open(servers.urls, `registry-${count}`, count);
      await watchers.write(writes);
      const micros: number[] = [];
      for (let run = 0; run < scale.runs; run++) {
        micros.push(await microsOf(servers, watchers, writes));
      }
      await watchers.close();
      const spread = spreadOf(micros);
      const conditions = { natsServers: SERVERS, watchers: count, valueBytes: VALUE.length };
      report({
        metric: `processor time, a registry write heard by ${count}, nats-servers`,
        value: rounded(spread.median),
        unit: "µs",
        conditions: { ...conditions, writesPerRun: writes, ...spreadConditions(spread) },
      });
    }
  } finally {
    await servers.stop();
  }
}

export const registryGroups: readonly Group[] = [{ name: "registry", run: measure }];

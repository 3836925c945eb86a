// What a beat costs the nats-servers: one write, and its delivery to every node; and how many of
// them the registry takes when nodes are in each other's way.

import { NatsRegistry } from "@sluice/cluster/registry";
import { connectNats } from "@sluice/log/nats";
import { NatsServers } from "@sluice/log/testing";
import type { Group, Report, Scale } from "../figure.ts";
import { figureOf, repeat } from "../spread.ts";
import { cpuMicrosOf } from "./cpu.ts";

const SERVERS = 3;
const WATCHERS = [3, 30, 100];
const WRITES = 1000;
const TOGETHER_MS = 3000;
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
        : registry!.renew("node.a", VALUE, this.#revision));
    }
    await new Promise<void>((resolve) => {
      this.#look = () => {
        if (this.#registries.every((_, i) => this.#heard[i] === this.#revision)) resolve();
      };
      this.#look();
    });
    this.#look = () => {};
  }

  // Writes a second when all write at once, each its own entry, for so long.
  async together(ms: number): Promise<number> {
    const endAt = performance.now() + ms;
    let written = 0;
    const beat = async (registry: NatsRegistry, key: string): Promise<void> => {
      let revision = (await registry.get(key))?.revision ?? (await registry.create(key, VALUE));
      for (; performance.now() < endAt; written++) {
        revision = await registry.renew(key, VALUE, revision);
      }
    };
    // One that was outrun for too long is refused, and its node would be taken for dead.
    await Promise.allSettled(this.#registries.map((one, i) => beat(one, `node.${i}`)));
    return (written * 1000) / ms;
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

async function measure(scale: Scale, report: Report): Promise<void> {
  const servers = await NatsServers.start({ count: SERVERS });
  const writes = scale.size(WRITES);
  try {
    for (const count of WATCHERS) {
      const watchers = await Watchers.open(servers.urls, `registry-${count}`, count);
      await watchers.write(writes);
      const micros = await repeat(scale.runs, () => microsOf(servers, watchers, writes));
      const rates = await repeat(scale.runs, () => watchers.together(TOGETHER_MS));
      await watchers.close();
      const conditions = { natsServers: SERVERS, watchers: count, valueBytes: VALUE.length };
      const together = `registry writes of ${count} nodes that write at once`;
      report(figureOf(together, "writes/s", rates, conditions));
      const heard = `processor time, a registry write heard by ${count}, nats-servers`;
      report(figureOf(heard, "µs", micros, { ...conditions, writesPerRun: writes }));
    }
  } finally {
    await servers.stop();
  }
}

export const registryGroups: readonly Group[] = [{ name: "registry", run: measure }];

// Three NATS servers and three nodes, each in a network namespace of its own. Each can be killed,
// frozen, parted from any other and deprived of its disk. Runs in a sandbox.

import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { open, statfs } from "node:fs/promises";
import { join } from "node:path";
import { NatsServers } from "@sluice/log/testing";
import type { ClusterStatus } from "@sluice/protocol";
import { Sluice } from "sluice";
import { untilSettled } from "../cluster.ts";
import { NodeProcess } from "../node-process.ts";
import { runSluice } from "../spawn-serve.ts";
import { type Host, TestNetwork } from "./network.ts";

export interface FaultClusterOptions {
  readonly version: string;
  readonly partitions?: number;
  // Of each NATS server's disk, so that it can be filled; else it has the machine's.
  readonly diskBytes?: number | undefined;
}

const NATS_NAMES = ["n1", "n2", "n3"];
const NODE_NAMES = ["a", "b", "c"];
const PORT = "7070";
const FILLER = "filler";
const FILL_BYTES = 1024 * 1024;

export class FaultCluster {
  readonly network: TestNetwork;
  readonly nats: NatsServers;
  readonly nodes: readonly NodeProcess[];
  readonly natsHosts: readonly Host[];
  readonly nodeHosts: readonly Host[];
  readonly partitions: number;
  readonly #clients: Sluice[] = [];

  private constructor(network: TestNetwork, nats: NatsServers, hosts: readonly Host[], of: Parts) {
    this.network = network;
    this.nats = nats;
    this.natsHosts = hosts;
    this.nodeHosts = of.nodeHosts;
    this.nodes = of.nodes;
    this.partitions = of.partitions;
  }

  static async start(options: FaultClusterOptions): Promise<FaultCluster> {
    const { version, partitions = 6, diskBytes } = options;
    const network = new TestNetwork();
    const natsHosts = NATS_NAMES.map((name) => network.add(name));
    const nodeHosts = NODE_NAMES.map((name) => network.add(name));
    const mount = (dir: string): void => {
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=${diskBytes}`, "tmpfs", dir]);
    };
    const nats = await NatsServers.start({
      version,
      count: NATS_NAMES.length,
      hosts: natsHosts,
      prepareStore: diskBytes === undefined ? undefined : mount,
    });
    const servers = `nats://${natsHosts.map(({ address }) => address).join(",")}`;
    const nodes = nodeHosts.map(({ name, address, command }) => {
      const words = ["--host", address, "--port", PORT, "--insecure", "--allow-untested-nats"];
      return new NodeProcess({
        ...{ name, nats: servers, address: `http://${address}:${PORT}`, words, command },
      });
    });
    const cluster = new FaultCluster(network, nats, natsHosts, { nodeHosts, nodes, partitions });
    await cluster.sluice("cluster", "create", "--partitions", String(partitions));
    await Promise.all(nodes.map((node) => node.start()));
    await cluster.settled();
    return cluster;
  }

  get urls(): string[] {
    return this.nodes.map(({ address }) => address);
  }

  // `sluice WORDS` beside the clients, with the addresses of NATS. Answers what it printed.
  async sluice(...words: string[]): Promise<string> {
    const servers = `nats://${this.natsHosts.map(({ address }) => address).join(",")}`;
    const more = ["--cluster", servers, "--allow-untested-nats"];
    const { code, out, err } = await runSluice([...words, ...more]);
    if (code !== 0) throw new Error(`sluice ${words.join(" ")}: ${code} ${out}${err}`);
    return out;
  }

  async connect(urls: string | readonly string[] = this.urls): Promise<Sluice> {
    const sluice = await Sluice.connect(urls);
    this.#clients.push(sluice);
    return sluice;
  }

  running(): NodeProcess[] {
    return this.nodes.filter(({ isRunning }) => isRunning);
  }

  status(from: NodeProcess = this.running()[0]!): Promise<ClusterStatus> {
    return from.get("/v1/cluster");
  }

  settled(): Promise<void> {
    return untilSettled(this.running(), this.partitions);
  }

  hostOf(node: NodeProcess): Host {
    return this.nodeHosts[this.nodes.indexOf(node)]!;
  }

  // The server that leads most of the partitions' streams.
  async leadingServer(): Promise<number> {
    const leaders = await Promise.all(
      Array.from({ length: this.partitions }, (_, i) => this.nats.streamLeader(`sluice-${i}`)),
    );
    const count = (index: number): number => leaders.filter((leader) => leader === index).length;
    return [0, 1, 2].sort((a, b) => count(b) - count(a))[0]!;
  }

  // Another program has used all that is left of a server's disk.
  async fillDisk(index: number): Promise<void> {
    const dir = this.nats.storeOf(index);
    const { bavail, bsize } = await statfs(dir);
    const file = await open(join(dir, FILLER), "w");
    try {
      // In pieces: clients run in this process, and must not be held up. What the server writes
      // meanwhile makes it end with ENOSPC.
      const piece = Buffer.alloc(FILL_BYTES);
      for (let left = bavail * bsize; left >= FILL_BYTES; left -= FILL_BYTES) {
        await file.write(piece);
      }
      for (;;) await file.write(piece, 0, bsize);
    } catch {
      await file.close();
    }
  }

  freeDisk(index: number): void {
    rmSync(join(this.nats.storeOf(index), FILLER), { force: true });
  }

  loseDisk(index: number): void {
    const dir = this.nats.storeOf(index);
    for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true });
  }

  async stopNodes(): Promise<void> {
    for (const client of this.#clients) await client.close({ timeout: 0 }).catch(() => {});
    await Promise.all(this.nodes.map((node) => node.stop()));
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) await client.close({ timeout: 0 }).catch(() => {});
    await Promise.all(this.nodes.map((node) => node.destroy()));
    for (const index of this.nats.urls.keys()) {
      await this.nats.kill(index);
      // Where it has a disk of its own.
      spawnSync("umount", ["-l", this.nats.storeOf(index)]);
    }
    await this.nats.stop();
  }
}

interface Parts {
  readonly nodes: readonly NodeProcess[];
  readonly nodeHosts: readonly Host[];
  readonly partitions: number;
}

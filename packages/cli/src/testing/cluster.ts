// A whole cluster on loopback: nats-server processes, `sluice serve --cluster` processes, and a
// proxy on every way between them, so that each of them can be killed, frozen and cut off.

import type { TestContext } from "node:test";
import { NatsServers } from "@sluice/log/testing";
import type { ClusterStatus } from "@sluice/protocol";
import { Sluice } from "sluice";
import { type NodePlace, NodeProcess } from "./node-process.ts";
import { createCluster } from "./spawn-serve.ts";
import { TcpProxy } from "./tcp-proxy.ts";

export interface ClusterOptions {
  readonly nats?: number;
  readonly nodes?: number;
  readonly partitions?: number;
  // More words for every `sluice serve`.
  readonly words?: readonly string[];
  // By how much the clock of each node is ahead.
  readonly aheadMs?: readonly number[];
}

const SETTLE_MS = 60_000;
const LOOK_MS = 25;

export class TestCluster {
  readonly nats: NatsServers;
  readonly nodes: readonly ClusterProcess[];
  readonly partitions: number;
  readonly #clients: Sluice[] = [];

  private constructor(nats: NatsServers, nodes: readonly ClusterProcess[], partitions: number) {
    this.nats = nats;
    this.nodes = nodes;
    this.partitions = partitions;
  }

  // All of it runs when it resolves, and every partition is served by whom it belongs to.
  static async start(
    t: Pick<TestContext, "after">,
    options: ClusterOptions = {},
  ): Promise<TestCluster> {
    const { nats: servers = 3, nodes: count = 3, partitions = 6, words = [] } = options;
    const { aheadMs = [] } = options;
    const nats = await NatsServers.start({ count: servers });
    await createCluster(nats.urls.join(","), "--partitions", String(partitions));
    const nodes: ClusterProcess[] = [];
    const cluster = new TestCluster(nats, nodes, partitions);
    t.after(() => cluster.stop());
    for (let i = 0; i < count; i++) {
      const name = String.fromCharCode("a".charCodeAt(0) + i);
      nodes.push(await ClusterProcess.make(name, nats, words, aheadMs[i]));
    }
    await Promise.all(nodes.map((node) => node.start()));
    await cluster.settled();
    return cluster;
  }

  get urls(): string[] {
    return this.nodes.map(({ address }) => address);
  }

  node(name: string): ClusterProcess {
    return this.nodes.find((one) => one.name === name)!;
  }

  // A client that knows the addresses of all nodes, or of those that are named.
  async connect(urls: string | readonly string[] = this.urls): Promise<Sluice> {
    const sluice = await Sluice.connect(urls);
    this.#clients.push(sluice);
    return sluice;
  }

  async status(from: ClusterProcess = this.#running()[0]!): Promise<ClusterStatus> {
    return from.get("/v1/cluster");
  }

  // The stream of NATS that is the log of a partition.
  streamOf(partition: number): string {
    return `sluice-${partition}`;
  }

  // Which node owns the partition of a job.
  async ownerOf(jobId: string): Promise<ClusterProcess> {
    const partition = Number(jobId.split("-")[0]);
    const { partitions } = await this.status();
    return this.node(partitions[partition]!.owner!);
  }

  // Every partition is served, and those that run have even shares.
  async settled(nodes: readonly ClusterProcess[] = this.#running()): Promise<void> {
    await untilSettled(nodes, this.partitions);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close({ timeout: 0 }).catch(() => {})));
    await Promise.all(this.nodes.map((node) => node.destroy()));
    await this.nats.stop();
  }

  #running(): ClusterProcess[] {
    return this.nodes.filter(({ isRunning }) => isRunning);
  }
}

// A node whose ways to NATS and to all others go through proxies.
export class ClusterProcess extends NodeProcess {
  readonly #toNats: readonly TcpProxy[];
  readonly #door: TcpProxy;

  private constructor(place: NodePlace, toNats: readonly TcpProxy[], door: TcpProxy) {
    super(place);
    this.#toNats = toNats;
    this.#door = door;
  }

  static async make(
    name: string,
    nats: NatsServers,
    words: readonly string[],
    aheadMs?: number,
  ): Promise<ClusterProcess> {
    const ports = nats.urls.map((url) => Number(new URL(url).port));
    const toNats = await Promise.all(ports.map((port) => TcpProxy.start(() => port)));
    const door = await TcpProxy.start(() => node.port);
    const servers = toNats.map(({ port }) => `127.0.0.1:${port}`).join(",");
    const address = `http://127.0.0.1:${door.port}`;
    const place = { name, nats: `nats://${servers}`, address, words, aheadMs };
    const node: ClusterProcess = new ClusterProcess(place, toNats, door);
    return node;
  }

  cutFromNats(): void {
    for (const proxy of this.#toNats) proxy.cut();
  }

  healNats(): void {
    for (const proxy of this.#toNats) proxy.heal();
  }

  // Every byte between it and NATS, and between it and the others, is late.
  slow(delayMs: number): void {
    for (const proxy of [...this.#toNats, this.#door]) proxy.delayMs = delayMs;
  }

  // From the other nodes and from clients, not from NATS.
  cutFromPeers(): void {
    this.#door.cut();
  }

  healPeers(): void {
    this.#door.heal();
  }

  override async destroy(): Promise<void> {
    await super.destroy();
    for (const proxy of [...this.#toNats, this.#door]) proxy.close();
  }
}

// Resolves when every partition is served and those that run have even shares.
export async function untilSettled(
  nodes: readonly NodeProcess[],
  partitions: number,
): Promise<void> {
  const share = partitions / nodes.length;
  let last = "";
  const endAt = Date.now() + SETTLE_MS;
  while (Date.now() < endAt) {
    const found = await nodes[0]!
      .get<ClusterStatus>("/v1/cluster")
      .catch(() => ({ partitions: [] }));
    last = JSON.stringify(found.partitions);
    const isServed =
      found.partitions.length > 0 &&
      found.partitions.every(({ state, next }) => state === "serving" && next === undefined);
    const shares = nodes.map(
      ({ name }) => found.partitions.filter(({ owner }) => owner === name).length,
    );
    if (isServed && shares.every((count) => Math.abs(count - share) < 1)) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error(`not settled within ${SETTLE_MS} ms: ${last}`);
}

import type { TestContext } from "node:test";
import { connectBroker, dialWebSocket } from "@sluice/client/remote";
import { type Broker, SystemClock, type Timer } from "@sluice/protocol";
import { type RunningServer, type ServeOptions, serve } from "@sluice/server";
import { MemoryHeartbeats } from "../heartbeats/memory-heartbeats.ts";
import { CLUSTER_KEY, createCluster } from "../node/cluster-entry.ts";
import { ClusterNode } from "../node/cluster-node.ts";
import { MemoryRegistry } from "../registry/memory-registry.ts";
import { type FencedLog, FencedStore } from "./fenced-log.ts";

export interface TestNode {
  readonly id: string;
  readonly node: ClusterNode;
  readonly server: RunningServer;
  readonly registry: MemoryRegistry;
  readonly broker: Broker;
  connect(apiKey?: string): Promise<Broker>;
  close(): Promise<void>;
  /** The logs that it has opened. */
  readonly logs: readonly FencedLog[];
  /** From the store of the cluster: its server still answers. */
  cutOff(): Promise<void>;
  /** Without a word to anybody. */
  kill(): Promise<void>;
}

const LEASE_MS = 1_000;
const MOVE_SETTLE_MS = 100;

class WrongClock extends SystemClock {
  readonly #aheadMs: number;

  constructor(aheadMs: number) {
    super();
    this.#aheadMs = aheadMs;
  }

  override now(): number {
    return super.now() + this.#aheadMs;
  }

  override wall(): number {
    return super.wall() + this.#aheadMs;
  }

  override at(time: number, callback: () => void): Timer {
    return super.at(time - this.#aheadMs, callback);
  }
}

/** Nodes in one process, each with a real server, on logs in memory that fence. */
export class NodeCluster {
  readonly stores: FencedStore[];
  /** Of each opening of a log, whether it had to be there. */
  readonly opened: boolean[] = [];
  readonly registry = new MemoryRegistry();
  readonly #heartbeats = new MemoryHeartbeats();
  readonly #t: TestContext;
  readonly #options: Partial<ServeOptions>;

  constructor(t: TestContext, partitions = 4, options: Partial<ServeOptions> = {}) {
    this.#t = t;
    this.#options = options;
    this.stores = Array.from({ length: partitions }, () => new FencedStore());
  }

  /** Nodes of these names, which serve all partitions when it resolves. */
  async start<Ids extends string[]>(...ids: Ids): Promise<{ [At in keyof Ids]: TestNode }> {
    const nodes: TestNode[] = [];
    for (const id of ids) nodes.push(await this.add(id));
    await this.settled(nodes);
    return nodes as { [At in keyof Ids]: TestNode };
  }

  /** Once, unless a test has made it otherwise. */
  async #create(): Promise<void> {
    if ((await this.registry.get(CLUSTER_KEY)) !== undefined) return;
    await createCluster(this.registry, { name: "sluice", partitions: this.stores.length });
  }

  /** Adds a node whose clock is `aheadMs` ahead. */
  async add(id: string, aheadMs = 0): Promise<TestNode> {
    await this.#create();
    const registry = new MemoryRegistry(this.registry);
    const logs: FencedLog[] = [];
    const heartbeats = new MemoryHeartbeats(this.#heartbeats);
    const node = new ClusterNode({
      registry,
      heartbeats,
      openLog: async (partition, { hasLog }) => {
        this.opened.push(hasLog);
        const log = this.stores[partition]!.open();
        logs.push(log);
        return log;
      },
      followLog: async (partition) => {
        const log = this.stores[partition]!.follow();
        logs.push(log);
        return log;
      },
      dial: dialWebSocket,
      node: id,
      version: "test",
      clock: new WrongClock(aheadMs),
      leaseMs: LEASE_MS,
      moveSettleMs: MOVE_SETTLE_MS,
    });
    const joined = Promise.withResolvers<Broker>();
    const server = await serve({
      ...this.#options,
      broker: joined.promise,
      cluster: node,
      log: "silent",
    });
    const broker = await node.start(server.address);
    joined.resolve(broker);
    const clients: Broker[] = [];
    const connect = async (apiKey?: string): Promise<Broker> => {
      const client = await connectBroker(server.address, { apiKey });
      clients.push(client);
      return client;
    };
    let isOver = false;
    const close = async (): Promise<void> => {
      if (isOver) return;
      isOver = true;
      await node.leave({ timeout: 5_000 });
      await server.close({ timeout: 100 });
      await node.stop();
    };
    const cutOff = async (): Promise<void> => {
      for (const log of logs) log.kill();
      await heartbeats.close();
      await registry.close();
    };
    const kill = async (): Promise<void> => {
      if (isOver) return;
      isOver = true;
      await cutOff();
      await server.close({ timeout: 0 });
      await node.stop();
    };
    this.#t.after(async () => {
      await Promise.all(clients.map((client) => client.close()));
      await kill();
    });
    return { id, node, server, registry, broker, logs, connect, close, cutOff, kill };
  }

  /** Resolves when every partition is served by the node that it belongs to. */
  async settled(nodes: readonly TestNode[]): Promise<void> {
    const share = this.stores.length / nodes.length;
    for (let tries = 0; ; tries++) {
      const { partitions } = nodes[0]!.node.status();
      const isServed = partitions.every(({ state, next }) => state === "serving" && !next);
      const shares = nodes.map(({ id }) => partitions.filter(({ owner }) => owner === id).length);
      if (isServed && shares.every((count) => Math.abs(count - share) < 1)) return;
      if (tries > 1_000) throw new Error(`not settled: ${JSON.stringify(partitions)}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

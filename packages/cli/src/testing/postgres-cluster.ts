// A whole cluster in PostgreSQL on loopback: the database, `sluice serve --cluster` processes, and
// a proxy on every way between them, so that each of them can be killed, frozen and cut off.

import type { TestContext } from "node:test";
import { PostgresServer } from "@sluice/log/testing/postgres";
import type { ClusterStatus } from "@sluice/protocol";
import { Sluice } from "sluice";
import { untilSettled } from "./cluster.ts";
import { type NodePlace, NodeProcess } from "./node-process.ts";
import { createCluster } from "./spawn-serve.ts";
import { TcpProxy } from "./tcp-proxy.ts";

const NODES = ["a", "b", "c"];

export class PostgresCluster {
  readonly database: PostgresServer;
  readonly partitions: number;
  readonly nodes: PostgresNode[] = [];
  readonly #clients: Sluice[] = [];

  private constructor(database: PostgresServer, partitions: number) {
    this.database = database;
    this.partitions = partitions;
  }

  // All of it runs when it resolves, and every partition is served by whom it belongs to.
  static async start(
    t: Pick<TestContext, "after">,
    { partitions = 6, aheadMs = [] }: { partitions?: number; aheadMs?: readonly number[] } = {},
  ): Promise<PostgresCluster> {
    const database = await PostgresServer.start();
    const cluster = new PostgresCluster(database, partitions);
    t.after(() => cluster.stop());
    await createCluster(database.url, "--partitions", String(partitions));
    for (const [i, name] of NODES.entries()) {
      cluster.nodes.push(await PostgresNode.make(name, database.port, aheadMs[i]));
    }
    await Promise.all(cluster.nodes.map((node) => node.start()));
    await cluster.settled();
    return cluster;
  }

  get urls(): string[] {
    return this.nodes.map(({ address }) => address);
  }

  node(name: string): PostgresNode {
    return this.nodes.find((one) => one.name === name)!;
  }

  async connect(urls: string | readonly string[] = this.urls): Promise<Sluice> {
    const sluice = await Sluice.connect(urls);
    this.#clients.push(sluice);
    return sluice;
  }

  async settled(): Promise<void> {
    await untilSettled(this.#running(), this.partitions);
  }

  // The node that serves the partition of a job, when it is not about to go to another.
  async ownerOf(jobId: string): Promise<PostgresNode> {
    const partition = Number(jobId.split("-")[0]);
    for (;;) {
      const { partitions } = await this.#running()[0]!.get<ClusterStatus>("/v1/cluster");
      const { owner, state, next } = partitions[partition]!;
      const node = this.nodes.find(({ name }) => name === owner);
      if (state === "serving" && next === undefined && node?.isRunning === true) return node;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close({ timeout: 0 }).catch(() => {})));
    await Promise.all(this.nodes.map((node) => node.destroy()));
    await this.database.stop();
  }

  #running(): PostgresNode[] {
    return this.nodes.filter(({ isRunning }) => isRunning);
  }
}

// A node whose ways to the database and to all others go through proxies.
export class PostgresNode extends NodeProcess {
  readonly #toDatabase: TcpProxy;
  readonly #door: TcpProxy;

  private constructor(place: NodePlace, toDatabase: TcpProxy, door: TcpProxy) {
    super(place);
    this.#toDatabase = toDatabase;
    this.#door = door;
  }

  static async make(name: string, database: number, aheadMs?: number): Promise<PostgresNode> {
    const toDatabase = await TcpProxy.start(() => database);
    const door = await TcpProxy.start(() => node.port);
    const nats = `postgres://sluice@127.0.0.1:${toDatabase.port}/postgres`;
    const address = `http://127.0.0.1:${door.port}`;
    const place = { name, nats, address, words: [], aheadMs };
    const node: PostgresNode = new PostgresNode(place, toDatabase, door);
    return node;
  }

  cutFromDatabase(): void {
    this.#toDatabase.cut();
  }

  healDatabase(): void {
    this.#toDatabase.heal();
  }

  cutFromPeers(): void {
    this.#door.cut();
  }

  healPeers(): void {
    this.#door.heal();
  }

  override async destroy(): Promise<void> {
    await super.destroy();
    for (const proxy of [this.#toDatabase, this.#door]) proxy.close();
  }
}

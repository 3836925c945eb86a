// A whole cluster on loopback: nats-server processes, `sluice serve --cluster` processes, and a
// proxy on every way between them, so that each of them can be killed, frozen and cut off.

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { NatsServers } from "@sluice/log/testing";
import type { ClusterStatus } from "@sluice/protocol";
import { Sluice } from "sluice";
import { firstLine, start } from "./spawn-serve.ts";
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
    const nodes: ClusterProcess[] = [];
    const cluster = new TestCluster(nats, nodes, partitions);
    t.after(() => cluster.stop());
    for (let i = 0; i < count; i++) {
      const name = String.fromCharCode("a".charCodeAt(0) + i);
      const more = ["--partitions", String(partitions), ...words];
      nodes.push(await ClusterProcess.make(name, nats, more, aheadMs[i]));
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
    const share = this.partitions / nodes.length;
    let last = "";
    const endAt = Date.now() + SETTLE_MS;
    while (Date.now() < endAt) {
      const { partitions } = await this.status(nodes[0]).catch(() => ({ partitions: [] }));
      last = JSON.stringify(partitions);
      const isServed =
        partitions.length > 0 &&
        partitions.every(({ state, next }) => state === "serving" && next === undefined);
      const shares = nodes.map(
        ({ name }) => partitions.filter(({ owner }) => owner === name).length,
      );
      if (isServed && shares.every((count) => Math.abs(count - share) < 1)) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    throw new Error(`not settled within ${SETTLE_MS} ms: ${last}`);
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

// One `sluice serve --cluster`, which keeps its name, its port and its ways over restarts.
export class ClusterProcess {
  readonly name: string;
  readonly #toNats: readonly TcpProxy[];
  readonly #words: readonly string[];
  #door: TcpProxy | undefined;
  #child: ChildProcess | undefined;
  #port = 0;
  #aheadMs: number | undefined;
  #said = "";
  // What it printed when it was up.
  hello: { address: string; key?: string; durability?: string } = { address: "" };

  private constructor(name: string, toNats: readonly TcpProxy[], words: readonly string[]) {
    this.name = name;
    this.#toNats = toNats;
    this.#words = words;
  }

  static async make(
    name: string,
    nats: NatsServers,
    words: readonly string[],
    aheadMs?: number,
  ): Promise<ClusterProcess> {
    const ports = nats.urls.map((url) => Number(new URL(url).port));
    const toNats = await Promise.all(ports.map((port) => TcpProxy.start(() => port)));
    const node = new ClusterProcess(name, toNats, words);
    node.#aheadMs = aheadMs;
    node.#door = await TcpProxy.start(() => node.#port);
    return node;
  }

  // Where clients and the other nodes reach it.
  get address(): string {
    return `http://127.0.0.1:${this.#door!.port}`;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  // What it said on standard error.
  get said(): string {
    return this.#said;
  }

  async start(): Promise<void> {
    const nats = this.#toNats.map(({ port }) => `127.0.0.1:${port}`).join(",");
    const words = [
      ...["serve", "--json", "--cluster", `nats://${nats}`, "--node", this.name],
      ...["--port", String(this.#port), "--advertise", this.address, "--log-level", "error"],
      ...this.#words,
    ];
    const child = start(words, this.#env());
    this.#child = child;
    child.stderr!.on("data", (text) => (this.#said += text));
    child.once("exit", () => {
      if (this.#child === child) this.#child = undefined;
    });
    try {
      this.hello = JSON.parse(await firstLine(child));
    } catch (error) {
      throw new Error(`${this.name}: ${(error as Error).message}\n${this.#said}`);
    }
    this.#port = Number(new URL(this.hello.address).port);
  }

  #env(): Record<string, string> {
    if (this.#aheadMs === undefined) return {};
    const preload = pathToFileURL(join(import.meta.dirname, "shifted-clock", "main.ts")).href;
    return { NODE_OPTIONS: `--import ${preload}`, SHIFT_MS: String(this.#aheadMs) };
  }

  // kill -9
  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  // In good order: it hands its partitions over first.
  stop(): Promise<void> {
    return this.#end("SIGTERM");
  }

  freeze(): void {
    this.#child?.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child?.kill("SIGCONT");
  }

  cutFromNats(): void {
    for (const proxy of this.#toNats) proxy.cut();
  }

  healNats(): void {
    for (const proxy of this.#toNats) proxy.heal();
  }

  // Every byte between it and NATS, and between it and the others, is late.
  slow(delayMs: number): void {
    for (const proxy of [...this.#toNats, this.#door!]) proxy.delayMs = delayMs;
  }

  // From the other nodes and from clients, not from NATS.
  cutFromPeers(): void {
    this.#door!.cut();
  }

  healPeers(): void {
    this.#door!.heal();
  }

  async get<T>(path: string): Promise<T> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}${path}`, {
      signal: AbortSignal.timeout(5_000),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  async destroy(): Promise<void> {
    this.thaw();
    await this.#end("SIGKILL");
    this.#door?.close();
    for (const proxy of this.#toNats) proxy.close();
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }
}

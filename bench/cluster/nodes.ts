// A cluster as people run it: three nats-server processes, and `sluice serve --cluster` processes
// that come and go.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createNatsCluster } from "@sluice/cluster/nats";
import { homeOfQueue } from "@sluice/cluster/router";
import { NatsServers } from "@sluice/log/testing";
import type { ClusterStatus } from "@sluice/protocol";

const MAIN = fileURLToPath(new URL("../../packages/cli/src/main.ts", import.meta.url));
const NATS_SERVERS = 3;
const SETTLE_MS = 60_000;
const LOOK_MS = 50;

interface Node {
  readonly name: string;
  readonly address: string;
  readonly child: ChildProcess;
}

export class Nodes implements AsyncDisposable {
  readonly nats: NatsServers;
  readonly partitions: number;
  readonly #nodes: Node[] = [];
  // Of two nodes with one name only one lives.
  #started = 0;
  readonly #kill = (): void => {
    for (const { child } of this.#nodes) child.kill("SIGKILL");
  };

  private constructor(nats: NatsServers, partitions: number) {
    this.nats = nats;
    this.partitions = partitions;
    process.on("exit", this.#kill);
  }

  static async start(count: number, partitions = 12): Promise<Nodes> {
    const nats = await NatsServers.start({ count: NATS_SERVERS });
    await createNatsCluster({ nats: { servers: nats.urls }, partitions });
    const nodes = new Nodes(nats, partitions);
    try {
      await nodes.resize(count);
      return nodes;
    } catch (error) {
      await nodes[Symbol.asyncDispose]();
      throw error;
    }
  }

  get urls(): string[] {
    return this.#nodes.map(({ address }) => address);
  }

  get pids(): number[] {
    return this.#nodes.map(({ child }) => child.pid!);
  }

  get conditions() {
    return {
      natsServers: NATS_SERVERS,
      copies: NATS_SERVERS,
      partitions: this.partitions,
      processes: "nodes, nats-servers, producer and consumer, one each, over loopback",
    };
  }

  // So many nodes run, each with its share of the partitions.
  async resize(count: number): Promise<void> {
    while (this.#nodes.length > count) await this.#stopLast();
    while (this.#nodes.length < count) await this.#startOne();
    await this.#settled();
  }

  // Of the nodes that are not at this address.
  pidsBut(address: string): number[] {
    return this.#nodes.filter((node) => node.address !== address).map(({ child }) => child.pid!);
  }

  async kill(address: string): Promise<void> {
    const at = this.#nodes.findIndex((node) => node.address === address);
    const [node] = this.#nodes.splice(at, 1);
    const ended = once(node!.child, "exit");
    node!.child.kill("SIGKILL");
    await ended;
  }

  status(index = 0): Promise<ClusterStatus> {
    return fetch(`${this.#nodes[index]!.address}/v1/cluster`, {
      signal: AbortSignal.timeout(5_000),
    }).then((answer) => answer.json() as Promise<ClusterStatus>);
  }

  // The address of a partition's owner, and that of another node.
  async ownerOf(partition: number): Promise<{ owner: string; other: string }> {
    const { partitions } = await this.status();
    const owner = partitions[partition]!.address!;
    return { owner, other: this.urls.find((url) => url !== owner)! };
  }

  // A queue for each partition that is named, at home there.
  queuesIn(partitions: readonly number[]): string[] {
    return partitions.map((partition) => {
      for (let i = 0; ; i++) {
        if (homeOfQueue(`jobs-${i}`, this.partitions) === partition) return `jobs-${i}`;
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off("exit", this.#kill);
    this.#kill();
    await this.nats.stop();
  }

  async #startOne(): Promise<void> {
    const name = String.fromCharCode("a".charCodeAt(0) + this.#started++);
    const servers = this.nats.urls.map((url) => new URL(url).host).join(",");
    const words = [
      ...["serve", "--json", "--cluster", `nats://${servers}`, "--node", name, "--port", "0"],
      ...["--log-level", "error"],
    ];
    const child = spawn(process.execPath, [MAIN, ...words], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { PATH: process.env.PATH },
    });
    const gone = once(child, "exit").then(([code]) => {
      throw new Error(`node ${name} ended with ${code} before it listened`);
    });
    gone.catch(() => {});
    const [line] = await Promise.race([once(createInterface(child.stdout!), "line"), gone]);
    this.#nodes.push({ name, address: JSON.parse(line as string).address, child });
  }

  async #stopLast(): Promise<void> {
    const { child } = this.#nodes.pop()!;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }

  async #settled(): Promise<void> {
    const endAt = performance.now() + SETTLE_MS;
    while (!(await this.#isSettled())) {
      if (performance.now() > endAt) throw new Error(`not settled within ${SETTLE_MS} ms`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  async #isSettled(): Promise<boolean> {
    const { partitions } = await this.status();
    const isServed = partitions.every(
      ({ state, next }) => state === "serving" && next === undefined,
    );
    const shares = this.#nodes.map(
      ({ name }) => partitions.filter(({ owner }) => owner === name).length,
    );
    const even = this.partitions / this.#nodes.length;
    return isServed && shares.every((count) => Math.abs(count - even) < 1);
  }
}

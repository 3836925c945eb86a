import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { needNatsServer } from "./need-nats-server.ts";

export interface NatsServersOptions {
  /** 1, or 3 that form a cluster. */
  readonly count?: number;
  /** Lines for the configuration of each server. */
  readonly config?: string;
}

interface Ports {
  readonly client: number;
  readonly cluster: number;
  readonly monitor: number;
}

const READY_MS = 60_000;
const LOOK_MS = 50;

/** Real nats-server processes on loopback with JetStream, for tests that kill them. */
export class NatsServers {
  readonly #dir: string;
  readonly #ports: readonly Ports[];
  readonly #children: (ChildProcess | undefined)[];
  readonly #onExit = (): void => this.#killAll();

  static async start({ count = 1, config = "" }: NatsServersOptions = {}): Promise<NatsServers> {
    needNatsServer();
    const ports = await freePorts(count * 3);
    const servers = new NatsServers(
      Array.from({ length: count }, (_, i) => ({
        client: ports[3 * i]!,
        cluster: ports[3 * i + 1]!,
        monitor: ports[3 * i + 2]!,
      })),
      config,
    );
    try {
      await Promise.all(servers.#ports.map((_, index) => servers.restart(index)));
      await servers.ready();
    } catch (error) {
      await servers.stop();
      throw error;
    }
    return servers;
  }

  private constructor(ports: readonly Ports[], config: string) {
    this.#ports = ports;
    this.#children = ports.map(() => undefined);
    this.#dir = mkdtempSync(join(tmpdir(), "sluice-nats-"));
    for (const index of ports.keys()) {
      writeFileSync(this.#configPath(index), this.#configOf(index, config));
    }
    process.on("exit", this.#onExit);
  }

  /** Addresses of all servers, for a client. */
  get urls(): string[] {
    return this.#ports.map(({ client }) => `nats://127.0.0.1:${client}`);
  }

  get count(): number {
    return this.#ports.length;
  }

  /** Of those that run. */
  get pids(): number[] {
    return this.#children.flatMap((child) => child?.pid ?? []);
  }

  nameOf(index: number): string {
    return `n${index + 1}`;
  }

  /** Where a server keeps its streams. */
  storeOf(index: number): string {
    return join(this.#dir, this.nameOf(index));
  }

  /** The end of power for a process: nothing is written any more. */
  async kill(index: number): Promise<void> {
    const child = this.#children[index];
    if (child === undefined) return;
    this.#children[index] = undefined;
    const ended = once(child, "exit");
    child.ref();
    child.kill("SIGKILL");
    await ended;
  }

  /** Stops the process, with its connections left open. Resolves when it has stopped. */
  async pause(index: number): Promise<void> {
    const child = this.#children[index];
    if (child === undefined) return;
    child.kill("SIGSTOP");
    await until("the server has stopped", async () => hasStopped(child.pid!));
  }

  resume(index: number): void {
    this.#children[index]?.kill("SIGCONT");
  }

  /** Starts a server with the directory that it had. */
  async restart(index: number): Promise<void> {
    if (this.#children[index] !== undefined) return;
    // A test that is killed leaves no server behind.
    const args = ["--pdeathsig", "KILL", "nats-server", "-c", this.#configPath(index)];
    const child = spawn("setpriv", args, { stdio: "ignore" });
    this.#children[index] = child;
    await once(child, "spawn");
    // A test that fails before it can stop them ends all the same.
    child.unref();
  }

  /** Waits until all that run are connected and have a leader that takes requests. */
  async ready(): Promise<void> {
    await until("the servers are ready", async () => {
      if ((await this.metaLeader()) === undefined) return false;
      // The monitoring page is there before clients are let in.
      const ports = this.#running().map((index) => this.#ports[index]!.client);
      return (await Promise.all(ports.map(isOpen))).every(Boolean);
    });
  }

  /** Which server leads the cluster's own group; the single one of one. */
  async metaLeader(): Promise<number | undefined> {
    const views = await Promise.all(this.#running().map((index) => this.#look(index)));
    if (views.some((view) => view === undefined)) return undefined;
    if (this.count === 1) return 0;
    const leaders = new Set(views.map((view) => view?.meta_cluster?.leader));
    const [leader] = leaders;
    if (leaders.size !== 1 || leader === undefined || leader === "") return undefined;
    const index = this.#ports.findIndex((_, i) => this.nameOf(i) === leader);
    return this.#children[index] === undefined ? undefined : index;
  }

  /** Which server leads a stream; undefined while none does. */
  async streamLeader(stream: string): Promise<number | undefined> {
    if (this.count === 1) return 0;
    for (const index of this.#running()) {
      const view = await this.#look(index);
      for (const { stream_detail } of view?.account_details ?? []) {
        const leader = stream_detail?.find(({ name }) => name === stream)?.cluster?.leader;
        const found = this.#ports.findIndex((_, i) => this.nameOf(i) === leader);
        if (found !== -1 && this.#children[found] !== undefined) return found;
      }
    }
    return undefined;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#children.map((_, index) => this.kill(index)));
    process.off("exit", this.#onExit);
    rmSync(this.#dir, { recursive: true, force: true });
  }

  #killAll(): void {
    for (const child of this.#children) child?.kill("SIGKILL");
  }

  #running(): number[] {
    return [...this.#children.keys()].filter((index) => this.#children[index] !== undefined);
  }

  async #look(index: number): Promise<JetStreamView | undefined> {
    const { monitor } = this.#ports[index]!;
    try {
      const options = { signal: AbortSignal.timeout(2000) };
      const answer = await fetch(`http://127.0.0.1:${monitor}/jsz?streams=true`, options);
      return (await answer.json()) as JetStreamView;
    } catch {
      return undefined;
    }
  }

  #configPath(index: number): string {
    return join(this.#dir, `${this.nameOf(index)}.conf`);
  }

  #configOf(index: number, more: string): string {
    const { client, cluster, monitor } = this.#ports[index]!;
    const routes = this.#ports.map(({ cluster: port }) => `nats://127.0.0.1:${port}`);
    const name = this.nameOf(index);
    const lines = [
      `server_name: ${name}`,
      `listen: "127.0.0.1:${client}"`,
      `http: "127.0.0.1:${monitor}"`,
      `jetstream { store_dir: "${this.storeOf(index)}" }`,
      more,
    ];
    if (this.count > 1) {
      lines.push(
        `cluster { name: sluice, listen: "127.0.0.1:${cluster}", routes: [${routes.join(", ")}] }`,
      );
    }
    return lines.join("\n");
  }
}

/** A process gets the signal to stop at its next turn on a processor. */
function hasStopped(pid: number): boolean {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).every((task) => {
    const line = readFileSync(`${tasks}/${task}/stat`, "latin1");
    return line.slice(line.lastIndexOf(")") + 2).startsWith("T");
  });
}

/** What the monitoring page of a server says of JetStream. */
interface JetStreamView {
  readonly meta_cluster?: { readonly leader?: string };
  readonly account_details?: readonly {
    readonly stream_detail?: readonly {
      readonly name: string;
      readonly cluster?: { readonly leader?: string };
    }[];
  }[];
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const endAt = Date.now() + READY_MS;
  while (!(await holds())) {
    if (Date.now() > endAt) throw new Error(`not within ${READY_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** All are held until all are found, so that no two are the same. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  for (const server of servers) {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  }
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  for (const server of servers) {
    server.close();
    await once(server, "close");
  }
  return ports;
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { natsProgram } from "./nats-program.ts";

export { NATS_VERSION, natsProgram } from "./nats-program.ts";

export interface NatsServersOptions {
  /** 1, or 3 that form a cluster. */
  readonly count?: number;
  /** Lines for the configuration of each server. */
  readonly config?: string;
  /** How often streams are synced, such as `always`. Default: every two minutes. */
  readonly syncInterval?: string | undefined;
  /** Of nats-server. */
  readonly version?: string | undefined;
  /** Where each server runs; else all of them on loopback, on ports that are free. */
  readonly hosts?: readonly NatsHost[] | undefined;
  /** Called with the directory of each server's streams, before it is used. */
  readonly prepareStore?: ((dir: string) => void) | undefined;
}

/** A place for a server: an address of its own, and a command that runs others there. */
export interface NatsHost {
  readonly address: string;
  readonly command: readonly string[];
}

type Settings = Pick<NatsServersOptions, "config" | "syncInterval">;

interface Ports {
  readonly address: string;
  readonly command: readonly string[];
  readonly client: number;
  readonly cluster: number;
  readonly monitor: number;
}

const READY_MS = 60_000;
const START_TRIES = 3;
const LOOK_MS = 50;

class ServerEnded extends Error {}

/** Real nats-server processes on loopback with JetStream, for tests that kill them. */
export class NatsServers {
  readonly #dir: string;
  readonly #ports: readonly Ports[];
  readonly #program: string;
  readonly #children: (ChildProcess | undefined)[];
  readonly #onExit = (): void => this.#killAll();

  static async start(options: NatsServersOptions = {}): Promise<NatsServers> {
    const { count = 1, hosts } = options;
    if (hosts !== undefined) return NatsServers.#startAt(hosts.map(fixedPorts), options);
    for (let tries = 1; ; tries++) {
      try {
        return await NatsServers.#startAt(await loopbackPorts(count), options);
      } catch (error) {
        // Another program may have got one of the ports before the server did.
        if (!(error instanceof ServerEnded) || tries === START_TRIES) throw error;
      }
    }
  }

  static async #startAt(
    places: readonly Ports[],
    { config = "", version, prepareStore, syncInterval }: NatsServersOptions,
  ): Promise<NatsServers> {
    const servers = new NatsServers(places, { config, syncInterval }, natsProgram(version));
    for (const index of places.keys()) {
      mkdirSync(servers.storeOf(index));
      prepareStore?.(servers.storeOf(index));
    }
    try {
      await Promise.all(servers.#ports.map((_, index) => servers.restart(index)));
      await servers.ready();
    } catch (error) {
      await servers.stop();
      throw error;
    }
    return servers;
  }

  private constructor(ports: readonly Ports[], more: Settings, program: string) {
    this.#ports = ports;
    this.#program = program;
    this.#children = ports.map(() => undefined);
    this.#dir = mkdtempSync(join(tmpdir(), "sluice-nats-"));
    for (const index of ports.keys()) {
      writeFileSync(this.#configPath(index), this.#configOf(index, more));
    }
    process.on("exit", this.#onExit);
  }

  /** Addresses of all servers, for a client. */
  get urls(): string[] {
    return this.#ports.map(({ address, client }) => `nats://${address}:${client}`);
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

  /** What a server says of itself. */
  logOf(index: number): string {
    return join(this.#dir, `${this.nameOf(index)}.log`);
  }

  /** The end of power for a process: nothing is written any more. Or in good order, by SIGTERM. */
  async kill(index: number, signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> {
    const child = this.#children[index];
    if (child === undefined) return;
    this.#children[index] = undefined;
    if (hasEnded(child)) return;
    const ended = once(child, "exit");
    child.ref();
    child.kill(signal);
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
    const running = this.#children[index];
    if (running !== undefined && !hasEnded(running)) return;
    // A test that is killed leaves no server behind.
    const { command } = this.#ports[index]!;
    const server = [this.#program, "-c", this.#configPath(index)];
    const args = ["--pdeathsig", "KILL", ...command, ...server];
    const child = spawn("setpriv", args, { stdio: "ignore" });
    this.#children[index] = child;
    await once(child, "spawn");
    // A test that fails before it can stop them ends all the same.
    child.unref();
  }

  /** Waits until all that run are connected and have a leader that takes requests. */
  async ready(): Promise<void> {
    await until("the servers are ready", async () => {
      this.#checkRunning();
      if ((await this.metaLeader()) === undefined) return false;
      // The monitoring page is there before clients are let in.
      const ports = this.#running().map((index) => this.#ports[index]!);
      return (await Promise.all(ports.map(isOpen))).every(Boolean);
    });
  }

  /** One that has ended by itself is not waited for. */
  #checkRunning(): void {
    for (const index of this.#running()) {
      const child = this.#children[index]!;
      if (!hasEnded(child)) continue;
      const said = readFileSync(this.logOf(index), "utf8").trim().split("\n").slice(-3).join("; ");
      const how = child.exitCode ?? child.signalCode;
      throw new ServerEnded(`${this.nameOf(index)} has ended with ${how}: ${said}`);
    }
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
    const { address, monitor } = this.#ports[index]!;
    try {
      const options = { signal: AbortSignal.timeout(2000) };
      const answer = await fetch(`http://${address}:${monitor}/jsz?streams=true`, options);
      return (await answer.json()) as JetStreamView;
    } catch {
      return undefined;
    }
  }

  #configPath(index: number): string {
    return join(this.#dir, `${this.nameOf(index)}.conf`);
  }

  #configOf(index: number, { config = "", syncInterval }: Settings): string {
    const { address, client, cluster, monitor } = this.#ports[index]!;
    const routes = this.#ports.map((one) => `nats://${one.address}:${one.cluster}`);
    const name = this.nameOf(index);
    const lines = [
      `server_name: ${name}`,
      `listen: "${address}:${client}"`,
      `http: "${address}:${monitor}"`,
      `log_file: "${this.logOf(index)}"`,
      `jetstream { store_dir: "${this.storeOf(index)}"`,
      syncInterval === undefined ? "}" : `sync_interval: ${syncInterval} }`,
      config,
    ];
    if (this.count > 1) {
      lines.push(
        `cluster { name: sluice, listen: "${address}:${cluster}", routes: [${routes.join(", ")}] }`,
      );
    }
    return lines.join("\n");
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
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

async function isOpen({ client, address }: Ports): Promise<boolean> {
  const socket = connect(client, address);
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

/** Where nothing else runs, each server has the usual ports. */
function fixedPorts({ address, command }: NatsHost): Ports {
  return { address, command, client: 4222, cluster: 6222, monitor: 8222 };
}

async function loopbackPorts(count: number): Promise<Ports[]> {
  const ports = await freePorts(count * 3);
  return Array.from({ length: count }, (_, i) => ({
    address: "127.0.0.1",
    command: [],
    client: ports[3 * i]!,
    cluster: ports[3 * i + 1]!,
    monitor: ports[3 * i + 2]!,
  }));
}

/** All are held until all are found, so that no two are the same. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const server of servers) {
    const listening = once(server, "listening");
    server.listen(0, "127.0.0.1", () => ports.push((server.address() as { port: number }).port));
    await listening;
  }
  for (const server of servers) {
    server.close();
    await once(server, "close");
  }
  return ports;
}

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";

const DEBIAN = "/usr/lib/postgresql";
const READY_MS = 60_000;
const LOOK_MS = 30;
/** PostgreSQL refuses to run as root. */
const NOBODY = 65_534;

/** A real PostgreSQL on loopback in a directory of its own, for tests that kill it. */
export class PostgresServer {
  readonly #dir: string;
  readonly #bin: string;
  readonly port: number;
  readonly #settings: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  readonly #onExit = (): void => void this.#child?.kill("SIGKILL");

  static async start(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
    const dir = mkdtempSync(join(tmpdir(), "sluice-postgres-"));
    const bin = findBin();
    if (process.getuid?.() === 0) chownSync(dir, NOBODY, NOBODY);
    const args = ["-D", join(dir, "data"), "-U", "sluice", "-A", "trust", "-E", "UTF8"];
    execFileSync(join(bin, "initdb"), [...args, "--locale=C", "--no-sync"], {
      ...asNobody(),
      cwd: dir,
      stdio: "ignore",
    });
    const server = new PostgresServer(dir, bin, await freePort(), settings);
    await server.restart();
    return server;
  }

  private constructor(
    dir: string,
    bin: string,
    port: number,
    settings: Readonly<Record<string, string>>,
  ) {
    this.#dir = dir;
    this.#bin = bin;
    this.port = port;
    this.#settings = settings;
    process.once("exit", this.#onExit);
  }

  get url(): string {
    return `postgres://sluice@127.0.0.1:${this.port}/postgres`;
  }

  /** Starts it, or starts it again, and waits until it answers. */
  async restart(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const all = {
      listen_addresses: "127.0.0.1",
      port: String(this.port),
      unix_socket_directories: this.#dir,
      ...this.#settings,
      ...settings,
    };
    const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    this.#child = spawn(join(this.#bin, "postgres"), ["-D", join(this.#dir, "data"), ...flags], {
      ...asNobody(),
      cwd: this.#dir,
      stdio: "ignore",
    });
    await this.#ready();
  }

  /** `SIGQUIT` is a crash without leftovers, `SIGINT` a fast shutdown. */
  async end(signal: "SIGINT" | "SIGQUIT" | "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }

  async stop(): Promise<void> {
    process.off("exit", this.#onExit);
    await this.end("SIGQUIT");
    rmSync(this.#dir, { recursive: true, force: true });
  }

  async #ready(): Promise<void> {
    const endAt = performance.now() + READY_MS;
    for (;;) {
      const client = new pg.Client({ connectionString: this.url });
      client.on("error", () => {});
      try {
        await client.connect();
        await client.end();
        return;
      } catch (error) {
        if (performance.now() > endAt) throw error;
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    }
  }
}

/** The newest that Debian has installed. */
function findBin(): string {
  if (!existsSync(DEBIAN))
    execFileSync("apt-get", ["install", "-y", "postgresql"], { stdio: "ignore" });
  const versions = readdirSync(DEBIAN).map(Number).filter(Number.isFinite);
  return join(DEBIAN, String(Math.max(...versions)), "bin");
}

function asNobody(): { uid?: number; gid?: number } {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { postgresPrograms } from "./postgres-programs.ts";

export { useNewerPostgres } from "./postgres-programs.ts";

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
    const bin = await postgresPrograms();
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

  /**
   * `SIGINT` is a fast shutdown, `SIGQUIT` a crash that PostgreSQL manages itself. `SIGKILL` ends
   * all of its processes at once: nothing is tidied up.
   */
  async end(signal: "SIGINT" | "SIGQUIT" | "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    const gone = once(child, "exit");
    if (signal !== "SIGKILL") {
      child.kill(signal);
      await gone;
      return;
    }
    const pids = signalAll(child.pid!, signal);
    await gone;
    // A server does not start while processes of the one before use its memory.
    while (pids.some(isRunning)) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }

  /** All of its processes stand still: connections are accepted, and not answered. */
  freeze(): void {
    signalAll(this.#child!.pid!, "SIGSTOP");
  }

  thaw(): void {
    signalAll(this.#child!.pid!, "SIGCONT");
  }

  /** Makes a user who must give this password. */
  async askPassword(user: string, password: string): Promise<void> {
    await this.#query(`CREATE ROLE ${user} LOGIN PASSWORD '${password}'`);
    const [{ hba_file: file }] = (await this.#query("SHOW hba_file")) as [{ hba_file: string }];
    const rule = (...words: string[]): string => `SELECT '${words.join(" ")}'`;
    const rules = [
      rule("host", "all", user, "127.0.0.1/32", "scram-sha-256"),
      rule("host", "all", "all", "127.0.0.1/32", "trust"),
    ];
    await this.#query(`COPY (${rules.join(" UNION ALL ")}) TO '${file}'`);
    await this.#query("SELECT pg_reload_conf()");
  }

  async #query(text: string): Promise<object[]> {
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
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

/** The server first: it would start others for those that end. Answers which processes it has. */
function signalAll(server: number, signal: NodeJS.Signals): number[] {
  // Each has a group of its own, so they are found by their parent.
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  const own = [server, ...pids.filter((pid) => statOf(pid)?.parent === server)];
  for (const pid of own) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // It has ended by itself in the meantime.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
  return own;
}

/** Whether it has memory still: one that has ended may be listed until its parent asks. */
function isRunning(pid: number): boolean {
  const state = statOf(pid)?.state;
  return state !== undefined && state !== "Z";
}

function statOf(pid: number): { state: string; parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state = "", parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
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

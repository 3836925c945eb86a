// A server of the command line in a process of its own, which can be stopped and started again.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = dirname(dirname(dirname(import.meta.dirname)));

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the tests.
  readonly body: any;
}

export class DashboardServer implements AsyncDisposable {
  readonly port: number;
  readonly #args: readonly string[];
  readonly #program: string;
  readonly #dir = mkdtempSync(join(tmpdir(), "sluice-dashboard-"));
  readonly #env: Record<string, string>;
  #child: ChildProcess | undefined;
  said = "";

  private constructor(
    port: number,
    program: string,
    args: readonly string[],
    env: Record<string, string>,
  ) {
    this.port = port;
    this.#program = program;
    this.#args = args;
    this.#env = env;
  }

  static async start(...args: string[]): Promise<DashboardServer> {
    const server = new DashboardServer(
      await freePort(),
      "packages/cli/src/main.ts",
      ["serve", ...args],
      {},
    );
    await server.start();
    return server;
  }

  // An app's own server, which shows its page in the same frame.
  static async startApp(name: string, env: Record<string, string>): Promise<DashboardServer> {
    const port = await freePort();
    const listen = {
      LISTEN_ADDRESS: `127.0.0.1:${port}`,
      TORZNAB_LISTEN: `127.0.0.1:${port}`,
      RETRACKER_DASHBOARD_LISTEN: `127.0.0.1:${port}`,
      ...env,
    };
    const server = new DashboardServer(port, `apps/${name}/src/main.ts`, [], listen);
    await server.start();
    return server;
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const isServer = this.#args.length > 0;
    const place = isServer ? ["--port", String(this.port), "--dir", this.#dir] : [];
    const child = spawn(process.execPath, [this.#program, ...this.#args, ...place], {
      cwd: root,
      env: {
        ...process.env,
        DATA_DIR: this.#dir,
        TORZNAB_DIR: this.#dir,
        RETRACKER_DIR: this.#dir,
        ...this.#env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    child.stdout.on("data", (text) => (this.said += text));
    child.stderr.on("data", (text) => (this.said += text));
    while (!(await this.#isReady())) {
      if (child.exitCode !== null) throw new Error(`the server ended: ${this.said}`);
      await once(child.stdout, "data", { signal: AbortSignal.timeout(200) }).catch(() => undefined);
    }
  }

  async #isReady(): Promise<boolean> {
    return fetch(`${this.address}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  }

  async call(line: string, body?: unknown, key?: string): Promise<Answer> {
    const [method = "GET", path = "/"] = line.split(" ");
    const headers: Record<string, string> = {};
    if (body !== undefined) headers["content-type"] = "application/json";
    if (key !== undefined) headers.authorization = `Bearer ${key}`;
    const response = await fetch(`${this.address}${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    const { status } = response;
    return { status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, "close");
  return port;
}

// A real server process for tests, and a client of it.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));
const HANDLERS = fileURLToPath(new URL("handlers.ts", import.meta.url));
export const HARMFUL = fileURLToPath(new URL("harmful-handlers.ts", import.meta.url));

const ASK_EVERY_MS = 10;

// Where a test run keeps what is compiled: a start costs half of the time.
const { PATH, NODE_COMPILE_CACHE } = process.env;
const INHERITED = { PATH, NODE_COMPILE_CACHE };

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
  readonly body: any;
}

export class Spawned {
  readonly folder = mkdtempSync(join(tmpdir(), "sluice-jobserver-"));
  readonly #env: Record<string, string>;
  // Thousands of calls: with fetch they took twice as long.
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 50 });
  #child: ChildProcess | undefined = undefined;
  address = "";
  said = "";

  readonly #handlers: string;

  constructor(t: TestContext, env: Record<string, string>, handlers = HANDLERS) {
    this.#env = env;
    this.#handlers = handlers;
    t.after(async () => {
      this.#agent.destroy();
      await this.kill();
      rmSync(this.folder, { recursive: true });
    });
  }

  // Resolves when it listens; rejects with what it said when it ended instead.
  async start(env: Record<string, string> = {}): Promise<this> {
    const child = spawn(process.execPath, [MAIN, "--handlers", this.#handlers], {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...INHERITED,
        RAN: join(this.folder, "ran"),
        RELEASE: join(this.folder, "release"),
        DATA_DIR: join(this.folder, "data"),
        LISTEN_ADDRESS: "127.0.0.1:0",
        LOG_LEVEL: "warn",
        MAX_JOBS: "1",
        ...this.#env,
        ...env,
      },
    });
    this.#child = child;
    this.said = "";
    const address = await new Promise<string>((resolve, reject) => {
      const hear = (text: string): void => {
        this.said += text;
        const [, found] = /job server on (\S+),/.exec(this.said) ?? [];
        if (found !== undefined) resolve(found);
      };
      child.stdout.setEncoding("utf8").on("data", hear);
      child.stderr.setEncoding("utf8").on("data", hear);
      // After `close` everything that it said is here.
      child.once("close", (code) => reject(new Error(`exit ${code}: ${this.said}`)));
    });
    this.address = address;
    return this;
  }

  // How it ended: its exit code.
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    const child = this.#child!;
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    child.kill(signal);
    const [code] = await once(child, "exit");
    return code;
  }

  async kill(): Promise<void> {
    if (this.#child !== undefined) await this.stop("SIGKILL");
  }

  async call(line: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const [method, path] = line.split(" ") as [string, string];
    const call = request(this.address + path, {
      method,
      agent: this.#agent,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
    });
    call.end(body === undefined || typeof body === "string" ? body : JSON.stringify(body));
    const [response] = (await once(call, "response")) as [IncomingMessage];
    const said = await text(response);
    const isJson = response.headers["content-type"]?.startsWith("application/json") === true;
    const { statusCode: status = 0 } = response;
    return { status, headers: response.headers, body: isJson ? JSON.parse(said) : said };
  }

  add(type: string, worker_id?: string, more: object = {}): Promise<Answer> {
    return this.call("POST /job/add", { type, worker_id, ...more });
  }

  async result(uid: string): Promise<Answer["body"]> {
    return (await this.call(`GET /job/result/${uid}?wait_seconds=20`)).body;
  }

  async status(uid: string): Promise<Answer["body"]> {
    return (await this.call(`GET /job/status/${uid}`)).body;
  }

  async stats(): Promise<Answer["body"]> {
    return (await this.call("GET /job/queue/stats")).body;
  }

  // Polls until the condition holds. It pauses between polls, because constant polling would keep
  // the server from its work.
  async until(holds: (stats: Answer["body"]) => boolean): Promise<void> {
    while (!holds(await this.stats())) await setTimeout(ASK_EVERY_MS);
  }

  // Lets the job that holds the worker end.
  release(): void {
    writeFileSync(join(this.folder, "release"), "");
  }

  // What ran, in order.
  get ran(): unknown[] {
    const file = join(this.folder, "ran");
    if (!existsSync(file)) return [];
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  }
}

// One `sluice serve --cluster` in a process of its own, which keeps its name, its port and its
// place over restarts.

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { firstLine, start } from "./spawn-serve.ts";

export interface NodePlace {
  readonly name: string;
  // As `--cluster` takes it.
  readonly nats: string;
  // Where clients and the other nodes reach it.
  readonly address: string;
  // More words for `sluice serve`.
  readonly words: readonly string[];
  // Runs it somewhere else.
  readonly command?: readonly string[];
  // By how much its clock is ahead.
  readonly aheadMs?: number | undefined;
}

const REQUEST_MS = 5_000;

export class NodeProcess {
  readonly #place: NodePlace;
  #child: ChildProcess | undefined;
  #said = "";
  // What it printed when it was up.
  hello: { address: string; key?: string; durability?: string } = { address: "" };

  constructor(place: NodePlace) {
    this.#place = place;
  }

  get name(): string {
    return this.#place.name;
  }

  get address(): string {
    return this.#place.address;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  // Where it listens itself; it is given the same port again.
  get port(): number {
    return this.hello.address === "" ? 0 : Number(new URL(this.hello.address).port);
  }

  // What it said on standard error.
  get said(): string {
    return this.#said;
  }

  async start(): Promise<void> {
    const { name, nats, address, words, command } = this.#place;
    const all = [
      ...["serve", "--json", "--cluster", nats, "--node", name, "--advertise", address],
      ...["--log-level", "error", ...words],
    ];
    if (!words.includes("--port")) all.push("--port", String(this.port));
    const child = start(all, this.#env(), command);
    this.#child = child;
    child.stderr!.on("data", (text) => (this.#said += text));
    child.once("exit", () => {
      if (this.#child === child) this.#child = undefined;
    });
    try {
      this.hello = JSON.parse(await firstLine(child));
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}\n${this.#said}`);
    }
  }

  #env(): Record<string, string> {
    const { aheadMs } = this.#place;
    if (aheadMs === undefined) return {};
    const preload = pathToFileURL(join(import.meta.dirname, "shifted-clock", "main.ts")).href;
    return { NODE_OPTIONS: `--import ${preload}`, SHIFT_MS: String(aheadMs) };
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

  async get<T>(path: string): Promise<T> {
    const answer = await fetch(new URL(path, this.hello.address), {
      signal: AbortSignal.timeout(REQUEST_MS),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  async destroy(): Promise<void> {
    this.thaw();
    await this.#end("SIGKILL");
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }
}

// A server in a process of its own: unprivileged, on loopback, in a directory of its own. It ends
// when the process that started it ends, for whatever reason.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";

const NOBODY = 65_534;
const START_MS_MAX = 60_000;
const STOP_MS_MAX = 10_000;
const OUTPUT_CHARS_MAX = 4000;
const TICK_MS = 20;
// A parent that is killed cannot tell its servers to end: the kernel does.
const WITH_PARENT = ["--pdeathsig", "KILL"];

export interface ServerCommand {
  readonly program: string;
  readonly args: readonly string[];
  // The only place that it may write to.
  readonly dir: string;
  readonly env?: NodeJS.ProcessEnv;
  // What it writes when it is ready, or the port that it then listens to.
  readonly ready: RegExp | number;
  readonly stopSignal?: NodeJS.Signals;
  // Runs as the user who runs the bench: other users might not be allowed to read the repository.
  readonly isOurs?: boolean;
}

export class PeerServer implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #stopSignal: NodeJS.Signals;
  readonly #end = (): void => void this.#child.kill(this.#stopSignal);
  #output = "";

  private constructor({ program, args, dir, env, ...more }: ServerCommand) {
    this.#stopSignal = more.stopSignal ?? "SIGKILL";
    const rights = more.isOurs === true ? WITH_PARENT : asNobody();
    this.#child = spawn("setpriv", [...rights, "--", program, ...args], {
      cwd: dir,
      env: { ...process.env, HOME: dir, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    // Before the listeners that remove its directory.
    process.prependListener("exit", this.#end);
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.on("data", (text) => {
        this.#output = (this.#output + text).slice(-OUTPUT_CHARS_MAX);
      });
    }
  }

  static async start(command: ServerCommand): Promise<PeerServer> {
    const server = new PeerServer(command);
    try {
      await server.#untilReady(command);
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
    return server;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get output(): string {
    return this.#output;
  }

  // Of the process and its children; what several of them share counts once.
  memoryBytes(): number {
    const kilobytes = familyOf(this.#child.pid!).map((pid) => {
      try {
        const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
        return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0);
      } catch {
        // It has ended in the meantime.
        return 0;
      }
    });
    return kilobytes.reduce((sum, one) => sum + one, 0) * 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off("exit", this.#end);
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#end();
    const abort = new AbortController();
    const late = setTimeout(STOP_MS_MAX, undefined, { signal: abort.signal }).then(
      () => this.#child.kill("SIGKILL"),
      () => undefined,
    );
    await ended;
    abort.abort();
    await late;
  }

  async #untilReady({ program, ready }: ServerCommand): Promise<void> {
    let failure: Error | undefined;
    this.#child.once("error", (error) => {
      failure = error;
    });
    const until = performance.now() + START_MS_MAX;
    while (performance.now() < until) {
      if (failure !== undefined) throw failure;
      const { exitCode, signalCode } = this.#child;
      if (exitCode !== null || signalCode !== null) {
        throw new Error(`${program} ended with ${exitCode ?? signalCode}: ${this.#output}`);
      }
      if (typeof ready === "number" ? await listens(ready) : ready.test(this.#output)) return;
      await setTimeout(TICK_MS);
    }
    throw new Error(`${program} is not ready after ${START_MS_MAX} ms: ${this.#output}`);
  }
}

// A directory that a server owns.
export function ownDir(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
  if (isRoot()) chownSync(path, NOBODY, NOBODY);
  return path;
}

// For what a server needs done before it starts.
export function runAsNobody(program: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  execFileSync("setpriv", [...asNobody(), "--", program, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
    cwd: "/",
  });
}

function asNobody(): string[] {
  const rights = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
  return [...WITH_PARENT, ...(isRoot() ? rights : [])];
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

async function listens(port: number): Promise<boolean> {
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

function familyOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const parent = /^\d+$/.test(name) ? parentOf(name) : undefined;
    if (parent === undefined) continue;
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const family = [pid];
  for (const one of family) family.push(...(children.get(one) ?? []));
  return family;
}

function parentOf(pid: string): number | undefined {
  try {
    // The name in parentheses may hold anything.
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}

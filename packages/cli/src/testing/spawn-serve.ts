// `sluice serve` in a process of its own, for tests that want the whole program.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { Sluice } from "sluice";

// A start alone takes seconds where the machine has much other work.
const COMMAND_MS = 60_000;
const MAIN = join(import.meta.dirname, "..", "main.ts");

export interface Spawned {
  readonly address: string;
  readonly port: number;
  // The first key, when keys are on.
  readonly key: string | undefined;
  connect(apiKey?: string): Promise<Sluice>;
  // Ends the process; answers its exit code, or null when the signal ended it.
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>;
}

// A directory that is gone when all servers are.
export function newDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "sluice-e2e-"));
  process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

// Runs `sluice WORDS`, and answers what it said when it has ended.
export async function runSluice(
  words: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number | null; out: string; err: string }> {
  const child = start(words, env);
  // A server that should not have started must not block the test.
  const timer = setTimeout(() => child.kill("SIGKILL"), COMMAND_MS);
  let [out, err] = ["", ""];
  child.stdout!.on("data", (text) => (out += text));
  child.stderr!.on("data", (text) => (err += text));
  const [code] = await once(child, "close");
  clearTimeout(timer);
  return { code, out, err };
}

// A cluster must be there before its first node.
export async function createCluster(nats: string, ...words: string[]): Promise<void> {
  const { code, err } = await runSluice(["cluster", "create", "--cluster", nats, ...words]);
  if (code !== 0) throw new Error(`the cluster was not created: ${err}`);
}

export async function spawnServe(
  t: TestContext,
  words: readonly string[],
  dir: string = newDir(),
): Promise<Spawned> {
  const usual = ["serve", "--json", "--log-level", "error"];
  if (!words.includes("--cluster")) usual.push("--dir", dir);
  if (!words.includes("--port")) usual.push("--port", "0");
  const child = start([...usual, ...words]);
  child.stderr!.pipe(process.stderr);
  const clients: Sluice[] = [];
  const end: Spawned["end"] = async (signal) => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    child.kill(signal);
    return (await once(child, "exit"))[0];
  };
  t.after(async () => {
    await Promise.all(clients.map((client) => client.close({ timeout: 0 }).catch(() => {})));
    await end("SIGKILL");
  });
  const { address, key } = JSON.parse(await firstLine(child));
  const connect = async (apiKey: string | undefined = key): Promise<Sluice> => {
    const client = await Sluice.connect(address, { apiKey });
    clients.push(client);
    return client;
  };
  return { address, port: Number(new URL(address).port), key, connect, end };
}

// By another command, which runs it somewhere else.
export function start(
  words: readonly string[],
  env: Record<string, string> = {},
  command: readonly string[] = [],
): ChildProcess {
  const [program = "", ...args] = [...command, process.execPath, MAIN, ...words];
  // What is compiled already is the only thing that it shares with this process.
  const { PATH, NODE_COMPILE_CACHE, SLUICE_TEST_THREADS } = process.env;
  const threads = SLUICE_TEST_THREADS === undefined ? {} : { SLUICE_THREADS: SLUICE_TEST_THREADS };
  return spawn(program, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH, NODE_COMPILE_CACHE, ...threads, ...env },
  });
}

export async function firstLine(child: ChildProcess): Promise<string> {
  const exited = once(child, "exit").then(([code]) => {
    throw new Error(`the server ended with ${code} before it listened`);
  });
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout! }), "line"),
    exited,
  ]);
  exited.catch(() => {});
  return line as string;
}

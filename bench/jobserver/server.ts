// A job server in a process of its own, with the handlers of the benchmark.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../apps/jobserver/src/main.ts", import.meta.url));
const HANDLERS = fileURLToPath(new URL("handlers.ts", import.meta.url));

export const PREFERRED = 20;
// The server's own default. With jobs that do nothing it bounds how many are confirmed at a time.
export const WORKERS = 10;

export interface ServerCpu {
  readonly thread: number;
  readonly process: number;
}

export interface Server {
  readonly address: string;
  // Processor seconds so far: of the thread that answers, and of the whole process.
  cpu(): ServerCpu;
  // How long jobs waited until their handler began, by group, since it was last asked.
  waits(): Record<"preferred" | "other", number[]>;
  drained(): Promise<void>;
  // Adds one that computes, and answers its uid.
  spin(ms: number): Promise<string>;
  stop(): Promise<void>;
}

export async function startServer(dir: string, env: Record<string, string> = {}): Promise<Server> {
  const preferred = Array.from({ length: PREFERRED }, (_, i) => `worker-${i}`);
  const waits = join(dir, "waits");
  mkdirSync(waits, { recursive: true });
  const child = spawn(process.execPath, [MAIN, "--handlers", HANDLERS], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PATH: process.env.PATH,
      DATA_DIR: join(dir, "data"),
      LISTEN_ADDRESS: "127.0.0.1:0",
      LOG_LEVEL: "error",
      FAST_QUEUE_SIZE: "1000000",
      SLOW_QUEUE_SIZE: "1000000",
      MAX_JOBS: String(WORKERS),
      PRIORITY_WORKER_IDS: preferred.join(","),
      WAITS: waits,
      ...env,
    },
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.on("exit", kill);
  const address = await new Promise<string>((resolve, reject) => {
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      said += text;
      const [, found] = /job server on (\S+),/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return {
    address,
    cpu: () => ({
      thread: cpuSeconds(`/proc/${child.pid}/task/${child.pid}/stat`),
      process: cpuSeconds(`/proc/${child.pid}/stat`),
    }),
    waits: () => readWaits(waits),
    drained: () => drained(address),
    spin: (ms) => spin(address, ms),
    stop: async () => {
      process.off("exit", kill);
      child.kill();
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}

// Linux counts in hundredths of a second.
function cpuSeconds(stat: string): number {
  const fields = readFileSync(stat, "latin1").split(") ").at(-1)!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

// Each thread writes a file of its own.
function readWaits(folder: string): Record<"preferred" | "other", number[]> {
  const waits = { preferred: [] as number[], other: [] as number[] };
  for (const name of globSync("*", { cwd: folder })) {
    const file = join(folder, name);
    for (const line of readFileSync(file, "utf8").split("\n")) {
      const [group, ms] = line.split(" ");
      if (group === "preferred" || group === "other") waits[group].push(Number(ms));
    }
    rmSync(file);
  }
  return waits;
}

interface Stats {
  readonly fast_queue_depth: number;
  readonly slow_queue_depth: number;
}

async function drained(address: string): Promise<void> {
  for (;;) {
    const stats = (await (await fetch(`${address}/job/queue/stats`)).json()) as Stats;
    if (stats.fast_queue_depth + stats.slow_queue_depth === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  // The threads write what they know every 50 ms.
  await new Promise((resolve) => setTimeout(resolve, 300));
}

async function spin(address: string, ms: number): Promise<string> {
  const added = await fetch(`${address}/job/add`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ type: "spin", worker_id: "worker-0", arguments: { ms } }),
  });
  return ((await added.json()) as { uid: string }).uid;
}

/**
 * A place of its own for code of users: a thread of this process, or another process. Both run the
 * same program and speak the same messages.
 */
import { fork } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Order, Report } from "./message.ts";

export interface Isolate {
  send(order: Order): void;
  /** Ends it at once, whatever it does. */
  end(): void;
}

export interface IsolateOptions {
  readonly kind: "thread" | "process";
  readonly heapMib: number;
  readonly onReport: (report: Report) => void;
  /** It is over; `why` says so in words. */
  readonly onOver: (why: string) => void;
}

/** In the repository Node runs the sources; what is published has its files beside each other. */
const PROGRAM = import.meta.url.endsWith(".ts") ? "./main.ts" : "./handlers-thread.js";

export function openIsolate(options: IsolateOptions): Isolate {
  return options.kind === "thread" ? openThread(options) : openProcess(options);
}

function openThread({ heapMib, onReport, onOver }: IsolateOptions): Isolate {
  const thread = new Worker(new URL(PROGRAM, import.meta.url), {
    env: environment(),
    resourceLimits: { maxOldGenerationSizeMb: heapMib },
  });
  let why: string | undefined;
  thread.on("message", onReport);
  // Its own program catches what handlers throw: this is memory, or a thread that cannot start.
  thread.on("error", (error: NodeJS.ErrnoException) => {
    const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
    why = isMemory ? `it needed more than ${heapMib} MiB of memory` : error.message;
  });
  thread.on("exit", (code) => onOver(why ?? `its thread ended with exit code ${code}`));
  return {
    send: (order) => thread.postMessage(order),
    end: () => void thread.terminate(),
  };
}

function openProcess({ heapMib, onReport, onOver }: IsolateOptions): Isolate {
  const program = fileURLToPath(new URL(PROGRAM, import.meta.url));
  if (!existsSync(program)) {
    throw new Error("JOB_ISOLATION=process is not possible in an executable; use thread");
  }
  const child = fork(program, {
    env: environment(),
    execArgv: [...process.execArgv, `--max-old-space-size=${heapMib}`],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  let why: string | undefined;
  child.on("message", (report) => onReport(report as Report));
  child.on("error", (error) => {
    why = error.message;
  });
  // After `close` every message of the child has been read.
  child.once("close", (code, signal) => {
    onOver(why ?? `its process ended with ${signal ?? `exit code ${code}`}`);
  });
  return {
    send: (order) => void (child.connected && child.send(order, () => {})),
    end: () => void child.kill("SIGKILL"),
  };
}

function environment(): NodeJS.ProcessEnv {
  // A secret of the server, and nothing for handlers.
  const { API_KEY: _, ...env } = process.env;
  return env;
}

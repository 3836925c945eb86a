import { Worker } from "node:worker_threads";
import { missingPackage } from "@sluice/protocol";
import { HARD_LIMIT_MS, HARD_WALL_MS, WATCH_MS } from "../../limits.ts";
import type { FromThread, ToThread } from "./messages.ts";

/** Lua lives outside of the heap; what is left is small. */
const HEAP = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

/** In the repository Node runs the sources; what is published has its files beside each other. */
const FILE = import.meta.url.endsWith(".ts") ? "main.ts" : "lua-thread.js";
const PROGRAM = new URL(FILE, import.meta.url);

/** Node has it since 24.6; before, time on the wall has to do. */
const CAN_ASK_FOR_OWN_TIME = "cpuUsage" in Worker.prototype;

/** Where the configuration comes from that scripts read. */
export interface ConfigSource {
  /** Rises with every change. */
  readonly version: number;
  bytes(): Uint8Array;
}

const TOO_LONG = `a call took longer than ${HARD_LIMIT_MS} ms: its thread was ended`;

/**
 * A thread for scripts, with one message in it at a time. While it works it is watched: when a call
 * does not end, the thread is. It
 *
 *   starts    is not ready yet, and is not watched: what is sent waits in it
 *   rests     has nothing to do, and does not keep the process alive
 *   works     has a message to answer
 *   is over   was ended, or has failed: `onOver` is called once
 */
export class Thread {
  readonly #worker: Worker;
  readonly #progress = new Int32Array(new SharedArrayBuffer(4));
  readonly #onOver: () => void;
  #answer: PromiseWithResolvers<FromThread> | undefined;
  #isReady = false;
  #isOver = false;
  #watch: NodeJS.Timeout | undefined;
  #seen = 0;
  #seenAt = 0;
  /** The thread's own time at the first look since the last progress. */
  #ownFromMs: number | undefined;
  readonly #started = Promise.withResolvers<void>();
  /** Scripts that it has the source of. */
  readonly scripts = new Set<number>();
  #config = -1;

  constructor(onOver: () => void) {
    this.#onOver = onOver;
    this.#worker = new Worker(PROGRAM, {
      workerData: { progress: this.#progress },
      resourceLimits: HEAP,
      execArgv: [],
      env: {},
      stdout: true,
      stderr: true,
    });
    this.#worker.on("message", (message: FromThread) => this.#hear(message));
    this.#worker.on("error", (error) => {
      const missing = missingPackage("a policy in Lua", ["wasmoon"], error);
      void this.end((missing ?? error).message);
    });
    this.#worker.on("exit", () => void this.end("the thread ended"));
  }

  /** Resolves when it is ready, or over. */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  /** The configuration, if it has changed since this thread got it. */
  newConfig(source: ConfigSource): Uint8Array | undefined {
    if (this.#config === source.version) return undefined;
    this.#config = source.version;
    return source.bytes();
  }

  get isBusy(): boolean {
    return this.#answer !== undefined;
  }

  /** Rejects when the thread is over before it has answered. */
  send(message: ToThread): Promise<FromThread> {
    this.#answer = Promise.withResolvers();
    this.#worker.ref();
    this.#worker.postMessage(message, message.kind === "run" ? [message.batch.buffer] : []);
    if (this.#isReady) this.#startWatch();
    return this.#answer.promise;
  }

  forget(script: number): void {
    if (!this.scripts.delete(script)) return;
    this.#worker.postMessage({ kind: "forget", id: script } satisfies ToThread);
  }

  /** Resolves when the thread is gone. */
  async end(reason: string): Promise<void> {
    if (!this.#isOver) {
      this.#isOver = true;
      clearInterval(this.#watch);
      this.#started.resolve();
      this.#answer?.reject(new Error(reason));
      this.#answer = undefined;
      this.#onOver();
    }
    await this.#worker.terminate();
  }

  #hear(message: FromThread): void {
    if (this.#isOver) return;
    if (message.kind === "ready") {
      this.#isReady = true;
      this.#started.resolve();
      if (this.isBusy) this.#startWatch();
      else this.#worker.unref();
      return;
    }
    clearInterval(this.#watch);
    this.#worker.unref();
    const answer = this.#answer;
    this.#answer = undefined;
    answer?.resolve(message);
  }

  #startWatch(): void {
    clearInterval(this.#watch);
    this.#seen = Atomics.load(this.#progress, 0);
    this.#seenAt = performance.now();
    this.#ownFromMs = undefined;
    this.#watch = setInterval(() => this.#look(), WATCH_MS);
  }

  #look(): void {
    const progress = Atomics.load(this.#progress, 0);
    const now = performance.now();
    if (progress !== this.#seen) {
      this.#seen = progress;
      this.#seenAt = now;
      this.#ownFromMs = undefined;
      return;
    }
    const waitedMs = now - this.#seenAt;
    if (waitedMs >= HARD_WALL_MS) void this.end(TOO_LONG);
    else if (CAN_ASK_FOR_OWN_TIME) this.#worker.cpuUsage().then(this.#judge, () => {});
    else if (waitedMs >= HARD_LIMIT_MS) void this.end(TOO_LONG);
  }

  /** A thread that had no processor has used no time: what counts is its own. */
  readonly #judge = ({ user, system }: NodeJS.CpuUsage): void => {
    if (!this.isBusy || Atomics.load(this.#progress, 0) !== this.#seen) return;
    const ownMs = (user + system) / 1000;
    this.#ownFromMs ??= ownMs;
    if (ownMs - this.#ownFromMs >= HARD_LIMIT_MS - WATCH_MS) void this.end(TOO_LONG);
  };
}

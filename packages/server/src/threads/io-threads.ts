/**
 * The threads of a server that hold its connections: sockets, TLS and WebSocket. Everything else
 * stays with the main thread, and so does every decision: which connection is one too many, who may
 * do what, how many bytes may wait. Several threads share one port where the system can divide
 * connections among them (`reusePort`); where it cannot, one thread has them all.
 */
import { createServer } from "node:net";
import { SluiceError } from "@sluice/protocol";
import { STUCK_MS } from "../limits.ts";
import type { ThreadConnection } from "./connection.ts";
import { IoThread, type Listening, ListenRefused } from "./io-thread.ts";
import type { ListenAt, ThreadData } from "./messages.ts";

export interface IoThreadsOptions {
  readonly data: ThreadData;
  readonly count: number;
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly onConnection: (connection: ThreadConnection) => void;
  /** Told when the system cannot share a port. */
  readonly onWarning: (text: string) => void;
}

/** What systems answer that cannot share a port. */
const UNSHARED: readonly string[] = ["ENOTSUP", "EINVAL", "ENOPROTOOPT", "EOPNOTSUPP"];

export class IoThreads {
  readonly #options: IoThreadsOptions;
  #threads: IoThread[] = [];
  readonly #failed = Promise.withResolvers<SluiceError>();
  #onIdle: (() => void) | undefined = undefined;

  private constructor(options: IoThreadsOptions) {
    this.#options = options;
  }

  static async open(options: IoThreadsOptions): Promise<{ threads: IoThreads; at: Listening }> {
    const threads = new IoThreads(options);
    try {
      return { threads, at: await threads.#listen() };
    } catch (error) {
      await threads.end();
      throw error;
    }
  }

  /** Resolves when a thread has ended by itself. */
  get failed(): Promise<SluiceError> {
    return this.#failed.promise;
  }

  get connections(): number {
    return this.#threads.reduce((sum, thread) => sum + thread.connections, 0);
  }

  async #listen(): Promise<Listening> {
    const { count, host, port } = this.#options;
    const isShared = count > 1;
    // A port that is shared would be shared with another server of this user as well.
    if (isShared && port !== 0) await checkFree(host, port);
    const first = this.#start();
    let at: Listening;
    try {
      at = await first.listen({ host, port, isShared });
      if (isShared) await this.#share({ host: at.address, port: at.port, isShared });
      return at;
    } catch (error) {
      if (!isShared || !(error instanceof ListenRefused) || !UNSHARED.includes(error.code)) {
        throw error;
      }
    }
    await this.end();
    this.#options.onWarning(
      "this system cannot share a port among threads: one thread holds all connections",
    );
    return this.#start().listen({ host, port, isShared: false });
  }

  async #share(at: ListenAt): Promise<void> {
    const others = Array.from({ length: this.#options.count - 1 }, () => this.#start());
    await Promise.all(others.map((thread) => thread.listen(at)));
  }

  #start(): IoThread {
    const { data, onConnection } = this.#options;
    const number = this.#threads.length + 1;
    const thread = new IoThread({
      data,
      onConnection: (connection) => {
        if (this.connections > data.connectionsMax) connection.destroy();
        else onConnection(connection);
      },
      onFailure: (reason) => this.#failed.resolve(failure(number, reason)),
      onGone: () => {
        if (this.connections === 0) this.#onIdle?.();
      },
    });
    this.#threads.push(thread);
    return thread;
  }

  /** Which thread has stopped working, in words: what it holds is served no more. */
  trouble(now: number): string | undefined {
    const silent = this.#threads.map((thread) => thread.silentMs(now));
    const stuck = silent.findIndex((ms) => ms > STUCK_MS);
    if (stuck === -1) return undefined;
    const seconds = Math.round(silent[stuck]! / 1000);
    return `thread ${stuck + 1}, which holds connections, has not answered for ${seconds} s`;
  }

  /** Takes no more connections. */
  stop(): void {
    for (const thread of this.#threads) thread.stop();
  }

  /** Resolves when no connection is left. */
  async idle(): Promise<void> {
    if (this.connections > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  /** Cuts all connections off. */
  cut(): void {
    for (const thread of this.#threads) thread.cut();
  }

  async end(): Promise<void> {
    const threads = this.#threads;
    this.#threads = [];
    await Promise.all(threads.map((thread) => thread.end()));
  }
}

function failure(number: number, reason: string): SluiceError {
  const message = `thread ${number}, which holds connections, has failed (${reason})`;
  return new SluiceError("CLOSED", message, { thread: number });
}

/** Refuses a port that is in use, as a server of one thread would. */
async function checkFree(host: string, port: number): Promise<void> {
  const server = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen({ host, port }, () => server.close(() => resolve()));
  await promise;
}

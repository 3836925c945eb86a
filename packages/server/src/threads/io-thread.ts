/** A thread that holds connections, as the main thread sees it, which has all their ends. */
import { Worker } from "node:worker_threads";
import { FrameReader } from "@sluice/protocol/wire";
import { UNTAKEN_BYTES_MAX } from "../limits.ts";
import { ThreadConnection } from "./connection.ts";
import type { FromThread, ListenAt, ThreadData, ToThread } from "./messages.ts";
import { bodyOf, type Ends, numberBytes, PACKET, PacketPort, textOf } from "./packets.ts";

/** In the repository Node runs the sources; what is published has its files beside each other. */
const FILE = import.meta.url.endsWith(".ts") ? "./thread/main.ts" : "./io-thread.js";
const PROGRAM = new URL(FILE, import.meta.url);

/** The main thread says that it took what is there when it is that much. */
const TOLD_BYTES = UNTAKEN_BYTES_MAX / 8;

/** How long a thread may take to end before it is ended from outside. */
const END_MS = 2_000;

export interface Listening {
  readonly address: string;
  readonly port: number;
}

/** A thread that cannot listen, with the code of the operating system. */
export class ListenRefused extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface IoThreadParts {
  readonly data: ThreadData;
  readonly onConnection: (connection: ThreadConnection) => void;
  /** The thread has ended without being asked to; all its connections are gone. */
  readonly onFailure: (reason: string) => void;
  /** A connection is over. */
  readonly onGone: () => void;
}

export class IoThread {
  readonly #parts: IoThreadParts;
  readonly #worker: Worker;
  readonly #port: PacketPort;
  readonly #connections = new Map<number, ThreadConnection>();
  #listening: PromiseWithResolvers<Listening> | undefined = undefined;
  #tookBytes = 0;
  /** When it was asked whether it works, and has not answered. */
  #askedAt: number | undefined = undefined;
  #failure: string | undefined = undefined;
  #isOver = false;
  #isGone = false;
  readonly #gone = Promise.withResolvers<void>();

  constructor(parts: IoThreadParts) {
    this.#parts = parts;
    this.#worker = new Worker(PROGRAM, { workerData: parts.data, execArgv: [], env: {} });
    this.#port = new PacketPort(this.#worker);
    this.#worker.on("message", (message: Uint8Array | FromThread) => {
      if (message instanceof Uint8Array) this.#take(message);
      else this.#hear(message);
    });
    this.#worker.on("error", (error) => {
      this.#failure = error instanceof Error ? error.message : String(error);
    });
    this.#worker.on("exit", (code) => this.#ended(this.#failure ?? `it ended with code ${code}`));
  }

  get connections(): number {
    return this.#connections.size;
  }

  listen(at: ListenAt): Promise<Listening> {
    this.#listening = Promise.withResolvers();
    this.#say({ kind: "listen", at });
    return this.#listening.promise;
  }

  /** For how long it has not answered; asks once more when it has. */
  silentMs(now: number): number {
    if (this.#askedAt !== undefined) return now - this.#askedAt;
    this.#askedAt = now;
    this.#port.send(PACKET.asked, 0);
    return 0;
  }

  /** Takes no more connections. */
  stop(): void {
    this.#say({ kind: "stop" });
  }

  /** Cuts all connections off. */
  cut(): void {
    for (const connection of this.#connections.values()) connection.destroy();
  }

  /** The thread ends by itself, so that it is not cut off in the middle of something. */
  async end(): Promise<void> {
    if (this.#isGone) return;
    this.#isOver = true;
    this.#say({ kind: "end" });
    const late = setTimeout(() => void this.#worker.terminate(), END_MS);
    await this.#gone.promise;
    clearTimeout(late);
  }

  #say(message: ToThread): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromThread): void {
    if (message.kind === "listening") this.#listening?.resolve(message);
    else this.#listening?.reject(new ListenRefused(message.code, message.message));
  }

  #take(batch: Uint8Array): void {
    const reader = new FrameReader(batch);
    while (reader.next()) {
      const { kind, operation: id } = reader;
      const body = bodyOf(reader, batch);
      if (kind === PACKET.opened) this.#open(id, body);
      else if (kind === PACKET.answered) this.#askedAt = undefined;
      else this.#connections.get(id)?.handle(kind, body);
      if (kind === PACKET.closed) this.#forget(id);
    }
    this.#tookBytes += batch.length;
    if (this.#tookBytes < TOLD_BYTES) return;
    this.#port.send(PACKET.took, 0, numberBytes(this.#tookBytes));
    this.#tookBytes = 0;
  }

  #open(id: number, body: Uint8Array): void {
    const ends = JSON.parse(textOf(body)) as Ends;
    const connection = new ThreadConnection({ id, port: this.#port, ends });
    this.#connections.set(id, connection);
    this.#parts.onConnection(connection);
  }

  #forget(id: number): void {
    this.#connections.delete(id);
    this.#parts.onGone();
  }

  #ended(reason: string): void {
    this.#isGone = true;
    this.#gone.resolve();
    const connections = [...this.#connections];
    for (const [id, connection] of connections) {
      connection.handle(PACKET.closed, new Uint8Array(0));
      this.#forget(id);
    }
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listening?.reject(new ListenRefused("", reason));
    this.#parts.onFailure(reason);
  }
}

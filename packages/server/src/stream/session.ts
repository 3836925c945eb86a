/**
 * What a client has with this server: its operations under way, its consumers and their leases. It
 * is in one of three states.
 *
 * attached  it has a connection: frames come, answers and jobs go
 * away      its connection was lost. Answers are kept, consumers rest, leases stay. The client
 *           comes back within `resumeMs` (attached), or not (over)
 * over      the client left, and its leases went back at once without losing an attempt; or it did
 *           not come back, and they went back as if they had run out
 *
 * Another node of a cluster has a session too, which carries the leases of all its clients. They
 * are workers that may continue elsewhere when that node ends, so whatever becomes of the session
 * their leases stay; for a worker that it loses the node itself gives back or abandons.
 */
import { randomBytes } from "node:crypto";
import type { Broker, Clock, LeasedJob, SluiceError, Timer } from "@sluice/protocol";
import { toSluiceError } from "@sluice/protocol";
import { Channel, FrameReader, KIND, type Socket, writeError } from "@sluice/protocol/wire";
import { BUFFERED_BYTES_MAX, CLIENT_BOUNDS, KEPT_BYTES_MAX, NODE_BOUNDS } from "../limits.ts";
import { HeldLeases } from "./held-leases.ts";
import { type RequestSession, Requests } from "./requests.ts";
import type { Subscription } from "./subscription.ts";

/** A socket that can stop reading. */
export interface ServerSocket extends Socket {
  /** The client has greeted, and may send as much as its session needs. */
  greeted?(): void;
  /** Hands what was sent in this turn to the operating system now. */
  push?(): void;
  pause(): void;
  resume(): void;
}

/** A connection of the server, wherever it is held. */
export interface StreamSocket extends ServerSocket {
  /** Called for every message, before anything else is done with it. */
  onheard: () => void;
  /** Called when the connection is gone: one that was closed may have waited for its client. */
  onover: () => void;
  /** Ends it without a word. */
  terminate(): void;
}

export interface SessionOptions {
  readonly broker: Broker;
  /** It is another node's. */
  readonly isNode: boolean;
  readonly apiKey: string | undefined;
  readonly isResumable: boolean;
  readonly resumeMs: number;
  readonly clock: Clock;
  readonly defer: (callback: () => void) => void;
  readonly onOver: (session: Session) => void;
}

export class Session implements RequestSession {
  readonly id = randomBytes(16).toString("hex");
  readonly apiKey: string | undefined;
  readonly broker: Broker;
  readonly channel: Channel;
  /** Empty in the session of a node. */
  readonly held = new HeldLeases();
  readonly subscriptions = new Map<number, Subscription>();
  readonly #options: SessionOptions;
  readonly #requests: Requests;
  #socket: ServerSocket | undefined = undefined;
  #isPaused = false;
  /** The client broke the rules: it is unknown what it has received. */
  #isBroken = false;
  #timer: Timer | undefined = undefined;
  #state: "attached" | "away" | "over" = "away";
  #drain: PromiseWithResolvers<void> | undefined = undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.broker = options.broker;
    this.apiKey = options.apiKey;
    this.channel = new Channel({ defer: options.defer, isResumable: options.isResumable });
    this.#requests = new Requests(this, options.isNode ? NODE_BOUNDS : CLIENT_BOUNDS);
  }

  get isResumable(): boolean {
    return this.#options.isResumable && !this.#isBroken && this.#state !== "over";
  }

  /** Calls back at the end of this turn of the event loop. */
  defer(callback: () => void): void {
    this.#options.defer(callback);
  }

  push(): void {
    this.channel.flush();
    this.#socket?.push?.();
  }

  /** The client has these jobs from now on, as far as anybody knows. */
  hold(jobs: readonly LeasedJob[]): void {
    if (!this.#options.isNode) this.held.take(jobs);
  }

  get bufferedBytes(): number {
    return this.#socket?.bufferedBytes ?? BUFFERED_BYTES_MAX;
  }

  /** Takes a connection, whose other end has so many messages of this session. */
  attach(socket: ServerSocket, received: number): void {
    // A client that comes back before its old connection is known to be dead.
    if (this.#socket !== undefined) this.#lose("the session continues on another connection");
    this.channel.attach(socket, received);
    this.#timer?.cancel();
    this.#socket = socket;
    this.#isPaused = false;
    this.#state = "attached";
    socket.onmessage = (message) => this.#receive(message);
    socket.ondrain = () => this.#drained();
    socket.onclose = () => this.#drop(socket);
    for (const [operation, subscription] of this.subscriptions) {
      subscription.join().catch((error) => this.endSubscription(operation, error));
    }
    this.#drained();
  }

  /** Ends a consumer that the broker refuses, or has ended. */
  endSubscription(operation: number, error?: unknown): void {
    if (!this.subscriptions.delete(operation)) return;
    this.channel.frame(KIND.over, operation, (writer) => {
      writer.u8(error === undefined ? 0 : 1);
      if (error !== undefined) writeError(writer, toSluiceError(error).toJSON());
    });
  }

  #receive(message: Uint8Array): void {
    try {
      this.channel.count(message);
      // A node passes on what it has bounded itself.
      const reader = new FrameReader(message, { isTrusted: this.#options.isNode });
      while (reader.next()) {
        this.#handle(reader);
        reader.done();
      }
    } catch (error) {
      return this.refuse(toSluiceError(error), 1002);
    }
    this.look();
  }

  #handle(reader: FrameReader): void {
    if (reader.kind === KIND.received) this.channel.hear(reader);
    else if (reader.kind === KIND.ping) this.channel.frame(KIND.pong, reader.operation, () => {});
    else if (reader.kind === KIND.leave) void this.#leave();
    else this.#requests.take(reader);
  }

  /** The client broke the rules, or may not be here: it gets the reason and is cut off. */
  refuse(error: SluiceError, code: number): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    this.#isBroken = true;
    this.channel.frame(KIND.error, 0, (writer) => writeError(writer, error.toJSON()));
    this.channel.flush();
    this.#drop(socket);
    socket.close(code, error.message.slice(0, 100));
  }

  /** Stops reading while too much waits to be answered or to be read by the client. */
  look(): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    if (this.channel.keptBytes > KEPT_BYTES_MAX + socket.bufferedBytes) {
      return this.#lose("the client does not tell what it has received");
    }
    const isFull = socket.bufferedBytes >= BUFFERED_BYTES_MAX || this.#requests.isFull;
    if (isFull === this.#isPaused) return;
    this.#isPaused = isFull;
    if (isFull) socket.pause();
    else socket.resume();
  }

  /** Resolves when something has left the socket, or the session has changed its connection. */
  drained(): Promise<void> {
    this.#drain ??= Promise.withResolvers<void>();
    return this.#drain.promise;
  }

  #drained(): void {
    this.#drain?.resolve();
    this.#drain = undefined;
    this.look();
    for (const subscription of this.subscriptions.values()) subscription.refill();
  }

  #lose(reason: string): void {
    const socket = this.#socket!;
    this.#drop(socket);
    socket.close(1008, reason);
  }

  /** The connection is gone; the client may come back. */
  #drop(socket: ServerSocket): void {
    if (this.#socket !== socket) return;
    socket.onmessage = () => {};
    this.#socket = undefined;
    this.channel.detach();
    this.#state = "away";
    for (const subscription of this.subscriptions.values()) subscription.pause();
    const { clock, resumeMs } = this.#options;
    this.#timer = clock.at(clock.now() + resumeMs, () => {
      this.#end();
      // What cannot be said any more runs out by itself.
      this.held.abandon(this.broker).catch(() => {});
    });
    this.#timer.unref?.();
  }

  /** The client leaves: it hears that all is answered when everything is given back. */
  async #leave(): Promise<void> {
    const socket = this.#socket;
    for (const subscription of this.subscriptions.values()) {
      await subscription.stop().catch(() => {});
    }
    this.#requests.giveUp();
    await this.#requests.answered();
    await this.held.giveBack(this.broker).catch(() => {});
    this.channel.frame(KIND.left, 0, () => {});
    this.channel.flush();
    this.#end();
    socket?.close(1000, "left");
  }

  /** The server ends: consumers rest, and leases stay for when it is back. */
  suspend(): void {
    const socket = this.#socket;
    // Jobs that are leased and not sent would wait for their leases to run out.
    this.channel.flush();
    if (socket !== undefined) this.#drop(socket);
    this.#end();
    socket?.close(1001, "the server is closing");
  }

  #end(): void {
    if (this.#state === "over") return;
    this.#state = "over";
    this.#timer?.cancel();
    this.#socket = undefined;
    this.channel.detach();
    this.#requests.giveUp();
    this.#drain?.resolve();
    for (const subscription of this.subscriptions.values())
      void subscription.stop().catch(() => {});
    this.subscriptions.clear();
    this.#options.onOver(this);
  }
}

/**
 * The client's end of a session, over one connection after the other. It is in one of these states.
 *
 * connecting  a connection is dialled, or waits for the server's welcome
 * up          frames go and come
 * waiting     the connection was lost, and the next try is due after a while
 * closed      by the user, or because the server refused us in a way that no retry can mend
 *
 * From `up` to `up` the session either went on, and nothing was lost, or it is a new one: then the
 * owner says again what was not answered.
 */
import { type Clock, SluiceError, type Timer, toSluiceError } from "@sluice/protocol";
import {
  Channel,
  FrameReader,
  FrameWriter,
  KIND,
  readError,
  readWelcome,
  type Socket,
  type Welcome,
  WIRE_VERSION,
  writeHello,
} from "@sluice/protocol/wire";
import { BACKOFF_MS_MAX, BACKOFF_MS_MIN, CONNECT_MS } from "../limits.ts";
import { connectionLost, type Dial, unreachable } from "./dial.ts";

export interface LinkOptions {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly client: string;
  readonly dial: Dial;
  readonly clock: Clock;
  readonly random: () => number;
  readonly defer: (callback: () => void) => void;
  /** Before the first of several tries; each later one waits twice as long. */
  readonly backoffMsMin?: number | undefined;
  /** The longest wait between two tries. */
  readonly backoffMsMax?: number | undefined;
  /** How long calls wait for a connection before all are refused. Absent: each has its own time. */
  readonly patienceMs?: number | undefined;
  /** How long a call waits for its answer. Absent: without end. */
  readonly callTimeoutMs?: number | undefined;
  readonly onLink?: ((event: LinkEvent) => void) | undefined;
}

/** What happens to the connection after it was made for the first time. */
export type LinkEvent =
  | { readonly event: "connected"; readonly address: string }
  | { readonly event: "disconnected"; readonly address: string; readonly error: SluiceError }
  | {
      readonly event: "reconnecting";
      readonly address: string;
      /** Counts from 1 after each disconnect. */
      readonly attempt: number;
      readonly delay: number;
      readonly error: SluiceError;
    };

export interface LinkOwner {
  receive(reader: FrameReader): void;
  /** The session continues, or is a new one without any state. */
  up(isResumed: boolean): void;
  /** It has been down for longer than `patienceMs`. */
  outOfReach(error: SluiceError): void;
  /** It will never be up again. */
  failed(error: SluiceError): void;
}

/** No retry can mend these. */
const FATAL: ReadonlySet<string> = new Set(["UNAUTHORIZED", "FORBIDDEN", "INVALID"]);

/** What answers cannot read its log, until an operator does something about it. */
export const UNREADABLE: ReadonlySet<string> = new Set(["LOG_DAMAGED", "LOG_VERSION"]);

/** Missed heartbeats after which the other end is taken to be gone. */
const SILENCES_MAX = 2;

export class StreamLink {
  readonly channel: Channel;
  readonly #options: LinkOptions;
  readonly #owner: LinkOwner;
  #state: "connecting" | "up" | "waiting" | "closed" = "connecting";
  #socket: Socket | undefined = undefined;
  #session = "";
  #retry: Timer | undefined = undefined;
  #beat: Timer | undefined = undefined;
  #heardAt = 0;
  #tries = 0;
  /** Since when there is no connection. */
  #downAt: number;
  #wasUp = false;

  constructor(options: LinkOptions, owner: LinkOwner) {
    this.#options = options;
    this.#owner = owner;
    this.#downAt = options.clock.now();
    this.channel = new Channel({ defer: options.defer, isResumable: true });
  }

  get isUp(): boolean {
    return this.#state === "up";
  }

  /** Resolves when the server has welcomed us; one try. */
  async open(): Promise<void> {
    try {
      await this.#connect();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Tries until the server has welcomed us, as after a lost connection. */
  start(): void {
    this.#connect().catch((error) => {
      if (this.#state !== "closed") this.#wait(toSluiceError(error));
    });
  }

  close(): void {
    this.#state = "closed";
    this.#retry?.cancel();
    this.#beat?.cancel();
    this.channel.detach();
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close(1000, "closed");
  }

  async #connect(): Promise<void> {
    const { clock, dial, url } = this.#options;
    this.#state = "connecting";
    const { promise, resolve, reject } = Promise.withResolvers<Welcome>();
    const late = clock.at(clock.now() + CONNECT_MS, () =>
      reject(unreachable(url, `no welcome within ${CONNECT_MS} ms`)),
    );
    const dialled = dial(url);
    dialled.then((socket) => this.#greet(socket, resolve, reject), reject);
    try {
      const welcome = await promise;
      this.#start(await dialled, welcome);
    } catch (error) {
      // A connection that comes too late is not left open either.
      dialled.then((socket) => socket.close(1000, "no welcome")).catch(() => {});
      throw error;
    } finally {
      late.cancel();
    }
  }

  #greet(
    socket: Socket,
    welcomed: (welcome: Welcome) => void,
    refused: (error: unknown) => void,
  ): void {
    const { url, apiKey, client } = this.#options;
    socket.onclose = (reason) => refused(unreachable(url, reason));
    socket.onmessage = (message) => {
      try {
        const reader = new FrameReader(message);
        const welcome = reader.next() ? welcomeOf(reader) : undefined;
        if (welcome === undefined) throw unreachable(url, "what answers is no Sluice server");
        socket.onmessage = (next) => this.#early.push(next);
        welcomed(welcome);
      } catch (error) {
        refused(error);
      }
    };
    const writer = new FrameWriter();
    writeHello(writer, {
      version: WIRE_VERSION,
      apiKey,
      client,
      session: this.#session,
      received: this.channel.received,
      isResumable: true,
    });
    socket.send(writer.take());
  }

  /** Messages that came right behind the welcome. */
  #early: Uint8Array[] = [];

  #start(socket: Socket, welcome: Welcome): void {
    const early = this.#early;
    this.#early = [];
    if (this.#state === "closed") return socket.close(1000, "closed");
    const { session, isResumed, received, heartbeatMs } = welcome;
    if (!isResumed) this.channel.reset();
    this.channel.attach(socket, isResumed ? received : 0);
    this.#session = session;
    this.#socket = socket;
    this.#state = "up";
    this.#tries = 0;
    socket.onmessage = (message) => this.#receive(message);
    socket.onclose = (reason) => this.#lost(socket, reason);
    this.#heardAt = this.#options.clock.now();
    this.#beatIn(heartbeatMs);
    this.#owner.up(isResumed);
    if (this.#wasUp) this.#options.onLink?.({ event: "connected", address: this.#address });
    this.#wasUp = true;
    for (const message of early) this.#receive(message);
  }

  #receive(message: Uint8Array): void {
    const socket = this.#socket;
    if (socket === undefined) return;
    this.#heardAt = this.#options.clock.now();
    try {
      this.channel.count(message);
      const reader = new FrameReader(message);
      while (reader.next()) this.#handle(reader);
    } catch (error) {
      // It is unknown what else was in it, so the session is given up.
      this.#session = "";
      socket.close(1000, "malformed");
      this.#lost(socket, toSluiceError(error).message);
    }
  }

  #handle(reader: FrameReader): void {
    if (reader.kind === KIND.received) this.channel.hear(reader);
    else if (reader.kind === KIND.error && reader.operation === 0) {
      throw SluiceError.fromJSON(readError(reader));
    } else if (reader.kind !== KIND.pong) this.#owner.receive(reader);
  }

  #lost(socket: Socket, reason: string): void {
    if (this.#socket !== socket) return;
    this.#socket = undefined;
    this.#downAt = this.#options.clock.now();
    this.#beat?.cancel();
    this.channel.detach();
    const error = connectionLost(this.#options.url, reason);
    this.#options.onLink?.({ event: "disconnected", address: this.#address, error });
    if (this.#state !== "closed") this.#wait(error);
  }

  get #address(): string {
    return this.#options.url;
  }

  /** The next try: soon at first, then less and less often, and not all clients at once. */
  #wait(error: SluiceError): void {
    if (FATAL.has(error.code)) {
      this.close();
      return this.#owner.failed(error);
    }
    this.#state = "waiting";
    const { clock, random, patienceMs = Number.POSITIVE_INFINITY } = this.#options;
    const { backoffMsMin = BACKOFF_MS_MIN, backoffMsMax = BACKOFF_MS_MAX, onLink } = this.#options;
    const isLong = clock.now() - this.#downAt > patienceMs;
    if (isLong || UNREADABLE.has(error.code)) this.#owner.outOfReach(error);
    const most = Math.min(backoffMsMax, backoffMsMin * 2 ** this.#tries++);
    const delayMs = most * (0.5 + random() / 2);
    this.#retry = clock.at(clock.now() + delayMs, () => this.start());
    if (!this.#wasUp) return;
    const attempt = this.#tries;
    const address = this.#address;
    onLink?.({ event: "reconnecting", address, attempt, delay: Math.round(delayMs), error });
  }

  #beatIn(heartbeatMs: number): void {
    const { clock } = this.#options;
    this.#beat = clock.at(clock.now() + heartbeatMs / 2, () => {
      const socket = this.#socket;
      if (socket === undefined) return;
      if (clock.now() - this.#heardAt > heartbeatMs * SILENCES_MAX) {
        socket.close(1000, "silent");
        return this.#lost(socket, "the server is silent");
      }
      this.channel.frame(KIND.ping, 0, () => {});
      this.#beatIn(heartbeatMs);
    });
  }
}

function welcomeOf(reader: FrameReader): Welcome | undefined {
  if (reader.kind === KIND.error) throw SluiceError.fromJSON(readError(reader));
  return reader.kind === KIND.welcome ? readWelcome(reader) : undefined;
}

/** What a connection of a cluster is about. */
export type LinkNews = LinkEvent & { readonly partition?: number };

/** Brings the news of a connection, which is made first, to the Sluice that is made of it. */
export class LinkFeed {
  #listener: ((news: LinkNews) => void) | undefined = undefined;

  readonly tell = (news: LinkNews): void => this.#listener?.(news);

  listen(listener: (news: LinkNews) => void): void {
    this.#listener = listener;
  }
}
